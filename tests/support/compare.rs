//! Comparing results, with messages that say where they differ and by how much.

use serde::Deserialize;

use super::{Buffer, Launch, Type};

/// How close a result has to come.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Tolerance {
    /// The same bits; any NaN equals any other.
    Exact {
        /// Always true.
        exact: bool,
    },
    /// `|got - want| <= abs + rel * |want|`, or both NaN.
    Within {
        /// The part relative to the wanted number.
        rel: f64,
        /// The absolute part.
        abs: f64,
    },
}

impl Tolerance {
    /// The same bits.
    pub const EXACT: Tolerance = Tolerance::Exact { exact: true };

    fn accepts(self, ty: Type, got: u64, want: u64) -> bool {
        let (g, w) = (ty.number(got), ty.number(want));
        let both_nan = g.is_nan() && w.is_nan();
        match self {
            Tolerance::Exact { .. } => got == want || both_nan,
            // An infinity is near nothing but itself.
            Tolerance::Within { .. } if g.is_infinite() || w.is_infinite() => g == w,
            Tolerance::Within { rel, abs } => both_nan || (g - w).abs() <= abs + rel * w.abs(),
        }
    }
}

/// Compares all buffers after the launches with the wanted contents, both in the
/// order of the buffer arguments; buffers that no result is expected in must be unchanged.
pub fn check<B: AsRef<[u8]>>(launch: &Launch, got: &[B], want: &[Buffer]) -> Result<(), String> {
    let initial: Vec<&Buffer> = launch.buffers().collect();
    assert_eq!((got.len(), want.len()), (initial.len(), initial.len()), "buffers of {}", launch.kernel);
    for ((got, want), initial) in got.iter().zip(want).zip(initial) {
        let wanted = if initial.expect.is_some() { want } else { initial };
        compare(wanted, got.as_ref()).map_err(|e| format!("{}: {e}", launch.kernel))?;
    }
    Ok(())
}

/// Compares the bytes of one buffer with the wanted contents.
pub fn compare(want: &Buffer, got: &[u8]) -> Result<(), String> {
    let Buffer { name, ty, data, expect } = want;
    if got.len() != data.len() {
        return Err(format!("buffer {name}: got {} bytes, want {}", got.len(), data.len()));
    }
    let tolerance = expect.unwrap_or(Tolerance::EXACT);
    let pairs = got.chunks_exact(ty.size()).zip(data.chunks_exact(ty.size()));
    let bad: Vec<(usize, u64, u64)> = pairs
        .map(|(got, want)| (ty.bits(got), ty.bits(want)))
        .enumerate()
        .filter(|&(_, (got, want))| !tolerance.accepts(*ty, got, want))
        .map(|(index, (got, want))| (index, got, want))
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    let mut message =
        format!("buffer {name}: {} of {} elements differ ({tolerance:?})", bad.len(), data.len() / ty.size());
    for &(index, got, want) in bad.iter().take(8) {
        message += &format!("\n  [{index}] got {}, want {}{}", show(*ty, got), show(*ty, want), ulps(*ty, got, want));
    }
    if bad.len() > 8 {
        message += &format!("\n  … the last one at [{}]", bad[bad.len() - 1].0);
    }
    Err(message)
}

fn show(ty: Type, bits: u64) -> String {
    let digits = 2 * ty.size();
    if ty.is_float() {
        let number = ty.number(bits);
        let text = if ty == Type::F64 { format!("{number:?}") } else { format!("{:?}", number as f32) };
        format!("{text} (0x{bits:0digits$x})")
    } else {
        format!("{} (0x{bits:0digits$x})", ty.integer(bits))
    }
}

/// The distance of two floating-point numbers in units of the last place.
fn ulps(ty: Type, got: u64, want: u64) -> String {
    if !ty.is_float() || ty.number(got).is_nan() || ty.number(want).is_nan() {
        return String::new();
    }
    let half = 1u64 << (8 * ty.size() - 1);
    let place = |bits: u64| if bits >= half { -i128::from(bits - half) } else { i128::from(bits) };
    format!(", {} ulp", (place(got) - place(want)).abs())
}
