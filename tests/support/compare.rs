//! Comparing results, with messages that say where they differ and by how much.

use serde::Deserialize;

use super::{Buffer, Launch, Type};

/// How close a result comes to what others compute from the same source.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Expect {
    /// The same bits; any NaN equals any other.
    Exact {
        /// Always true.
        exact: bool,
    },
    /// Not all implementations round alike.
    Within {
        /// Units of the last place between the result and that of the host's twin.
        ulps: f64,
        /// Units are those of numbers of this size at least: of what cancels, or of what an error is absolute to.
        #[serde(default)]
        of: f64,
        /// The part relative to any other result.
        rel: f64,
        /// The absolute part.
        abs: f64,
    },
}

/// Whose results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The twin that `kernels/host` made for the target: it fuses where the target's code does, and differs in the
    /// functions and divisions that OpenCL allows an error.
    Twin,
    /// Any implementation of OpenCL, which may fuse multiplications and additions or not.
    Other,
}

impl Expect {
    /// The same bits.
    pub const EXACT: Expect = Expect::Exact { exact: true };

    fn accepts(self, peer: Peer, ty: Type, got: u64, want: u64) -> bool {
        let (g, w) = (ty.number(got), ty.number(want));
        let both_nan = g.is_nan() && w.is_nan();
        match (self, peer) {
            (Expect::Exact { .. }, _) => got == want || both_nan,
            // An infinity is near nothing but itself.
            _ if g.is_infinite() || w.is_infinite() => g == w,
            (Expect::Within { ulps, of, .. }, Peer::Twin) => both_nan || distance(ty, got, want, of) <= ulps,
            (Expect::Within { rel, abs, .. }, Peer::Other) => both_nan || (g - w).abs() <= abs + rel * w.abs(),
        }
    }
}

/// Compares all buffers after the launches with what `peer` left, both in the order of the buffer arguments; buffers
/// that no result is expected in must be unchanged.
pub fn check<B: AsRef<[u8]>>(launch: &Launch, got: &[B], want: &[Buffer], peer: Peer) -> Result<(), String> {
    let initial: Vec<&Buffer> = launch.buffers().collect();
    assert_eq!((got.len(), want.len()), (initial.len(), initial.len()), "buffers of {}", launch.kernel);
    for ((got, want), initial) in got.iter().zip(want).zip(initial) {
        let wanted = if initial.expect.is_some() { want } else { initial };
        compare(wanted, got.as_ref(), peer).map_err(|e| format!("{}: {e}", launch.kernel))?;
    }
    Ok(())
}

/// Compares the bytes of one buffer with the wanted contents.
pub fn compare(want: &Buffer, got: &[u8], peer: Peer) -> Result<(), String> {
    let Buffer { name, ty, data, expect } = want;
    if got.len() != data.len() {
        return Err(format!("buffer {name}: got {} bytes, want {}", got.len(), data.len()));
    }
    let expect = expect.unwrap_or(Expect::EXACT);
    let pairs = got.chunks_exact(ty.size()).zip(data.chunks_exact(ty.size()));
    let bad: Vec<(usize, u64, u64)> = pairs
        .map(|(got, want)| (ty.bits(got), ty.bits(want)))
        .enumerate()
        .filter(|&(_, (got, want))| !expect.accepts(peer, *ty, got, want))
        .map(|(index, (got, want))| (index, got, want))
        .collect();
    if bad.is_empty() {
        return Ok(());
    }
    let mut message =
        format!("buffer {name}: {} of {} elements differ ({expect:?})", bad.len(), data.len() / ty.size());
    for &(index, got, want) in bad.iter().take(8) {
        message += &format!("\n  [{index}] got {}, want {}", show(*ty, got), show(*ty, want));
    }
    if bad.len() > 8 {
        message += &format!("\n  … the last one at [{}]", bad[bad.len() - 1].0);
    }
    if ty.is_float() {
        let of = if let Expect::Within { of, .. } = expect { of } else { 0.0 };
        let most = bad.iter().map(|&(_, got, want)| distance(*ty, got, want, of)).fold(0.0, f64::max);
        message += &format!("\n  at most {most} ulp");
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

/// How far `got` is from `want` in units of the last place of `want`, or of `of` if that is larger. NaN if one is NaN.
fn distance(ty: Type, got: u64, want: u64, of: f64) -> f64 {
    let (got, want) = (ty.number(got), ty.number(want));
    (got - want).abs() / ty.ulp(want.abs().max(of))
}
