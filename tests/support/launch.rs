//! Launch descriptions: what `launch.toml` says, and the launch made from it.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::{Expect, Fill, Type, kernels_dir};

/// One kernel, its index space and its arguments with their contents.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Work-items in x, y and z; need not be a multiple of `block`.
    pub grid: [u32; 3],
    /// Work-items of a work-group in x, y and z.
    pub block: [u32; 3],
    /// How often the kernel is launched, one after the other, on the same buffers.
    pub loop_count: u32,
    /// The explicit arguments, in the order of the signature.
    pub args: Vec<Arg>,
}

/// An explicit kernel argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A pointer to global memory.
    Buffer(Buffer),
    /// A number, vector or struct by value.
    Scalar(Scalar),
    /// A pointer to dynamic LDS of so many bytes.
    Local(u32),
    /// A u32: the number of the launch, from 0 to `loop_count - 1`.
    LoopIndex,
}

/// A buffer and its contents.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The parameter's name.
    pub name: String,
    /// The type of its elements.
    pub ty: Type,
    /// Its contents, little-endian.
    pub data: Vec<u8>,
    /// How close a result has to come; `None` if the kernel must leave it alone.
    pub expect: Option<Expect>,
}

/// An argument by value.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The parameter's name.
    pub name: String,
    /// Its bytes, little-endian, padding included.
    pub bytes: Vec<u8>,
}

impl Launch {
    /// Reads `kernels/<name>/launch.toml` and fills the buffers.
    ///
    /// # Panics
    /// With the file's name and the reason, if it cannot be read or understood.
    pub fn load(name: &str) -> Launch {
        Launch::load_as(name, Launch::parse)
    }

    /// The same kernel at the size that its `[bench]` table asks for: enough work to be measured.
    ///
    /// # Panics
    /// As [`Launch::load`], and if there is no such table.
    pub fn load_for_bench(name: &str) -> Launch {
        Launch::load_as(name, Launch::parse_for_bench)
    }

    fn load_as(name: &str, parse: impl Fn(&str) -> Result<Launch, String>) -> Launch {
        let path = kernels_dir().join(name).join("launch.toml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Understands the text of a launch description.
    pub fn parse(text: &str) -> Result<Launch, String> {
        Launch::from_file(toml::from_str(text).map_err(|e| e.to_string())?)
    }

    /// Understands the text of a launch description, at its bench size.
    pub fn parse_for_bench(text: &str) -> Result<Launch, String> {
        let mut file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        let sizes = file.bench.take().ok_or("it has no table [bench]")?;
        Launch::from_file(sizes.apply(file)?)
    }

    fn from_file(file: File) -> Result<Launch, String> {
        let args = file.arg.into_iter().map(RawArg::into_arg).collect::<Result<_, _>>()?;
        Ok(Launch {
            kernel: file.kernel,
            grid: three(&file.grid)?,
            block: three(&file.block)?,
            loop_count: file.loop_count,
            args,
        })
    }

    /// The buffers, in the order of the arguments.
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.args.iter().filter_map(|arg| if let Arg::Buffer(buffer) = arg { Some(buffer) } else { None })
    }

    /// The buffers after all launches, as the twin of `target`'s binary on the host leaves them: those without a
    /// result as they were, the others from `kernels/<name>/<name>.expected`, or from `<name>.fused.expected` if there
    /// is one and the target's compiler fuses multiplications and additions.
    ///
    /// # Panics
    /// With the file's name and how it is made, if it can't be read or has another size.
    pub fn expected(&self, target: &str) -> Vec<Buffer> {
        let file = |kind: &str| kernels_dir().join(&self.kernel).join(format!("{}{kind}.expected", self.kernel));
        let fused = Some(file(".fused")).filter(|path| target.starts_with("gfx9") && path.exists());
        let path = fused.unwrap_or_else(|| file(""));
        let fail = |what: &dyn std::fmt::Display| -> ! {
            panic!("{}: {what}; kernels/host/build.sh {} makes it", path.display(), self.kernel)
        };
        let bytes = std::fs::read(&path).unwrap_or_else(|error| fail(&error));
        let mut rest = bytes.as_slice();
        let mut buffers: Vec<Buffer> = self.buffers().cloned().collect();
        for buffer in buffers.iter_mut().filter(|buffer| buffer.expect.is_some()) {
            let Some((data, after)) = rest.split_at_checked(buffer.data.len()) else { fail(&"it ends too soon") };
            buffer.data.copy_from_slice(data);
            rest = after;
        }
        if !rest.is_empty() {
            fail(&"it is too long");
        }
        buffers
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kernel: String,
    grid: Vec<u32>,
    block: Vec<u32>,
    #[serde(default = "one", rename = "loop")]
    loop_count: u32,
    arg: Vec<RawArg>,
    bench: Option<Sizes>,
}

/// What is different when the kernel is measured; arguments are named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sizes {
    grid: Vec<u32>,
    r#loop: Option<u32>,
    #[serde(default)]
    len: BTreeMap<String, usize>,
    #[serde(default)]
    value: BTreeMap<String, OneOrMany>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArg {
    name: String,
    buffer: Option<RawBuffer>,
    #[serde(default)]
    fill: Fill,
    expect: Option<Expect>,
    scalar: Option<RawScalar>,
    local: Option<u32>,
    #[serde(default)]
    loop_index: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBuffer {
    r#type: Type,
    len: usize,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawScalar {
    Plain(Values),
    Struct(Vec<Values>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    r#type: Type,
    value: OneOrMany,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(f64),
    Many(Vec<f64>),
}

fn one() -> u32 {
    1
}

fn three(sizes: &[u32]) -> Result<[u32; 3], String> {
    if !(1..=3).contains(&sizes.len()) || sizes.contains(&0) {
        return Err(format!("{sizes:?} is no index space"));
    }
    Ok(std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(1)))
}

impl Sizes {
    /// The description with these sizes in it.
    fn apply(mut self, mut file: File) -> Result<File, String> {
        for arg in &mut file.arg {
            if let (Some(buffer), Some(len)) = (&mut arg.buffer, self.len.remove(&arg.name)) {
                buffer.len = len;
            }
            if let (Some(RawScalar::Plain(values)), Some(value)) = (&mut arg.scalar, self.value.remove(&arg.name)) {
                values.value = value;
            }
        }
        if let Some(name) = self.len.keys().chain(self.value.keys()).next() {
            return Err(format!("[bench] has a size for {name}, which is no such argument"));
        }
        let loop_count = self.r#loop.unwrap_or(file.loop_count);
        Ok(File { grid: self.grid, loop_count, ..file })
    }
}

impl RawArg {
    fn into_arg(self) -> Result<Arg, String> {
        let RawArg { name, fill, expect, .. } = self;
        match (self.buffer, self.scalar, self.local, self.loop_index) {
            (Some(RawBuffer { r#type: ty, len }), None, None, false) => {
                Ok(Arg::Buffer(Buffer { name, ty, data: fill.bytes(ty, len), expect }))
            }
            (None, Some(scalar), None, false) => Ok(Arg::Scalar(Scalar { name, bytes: scalar.bytes() })),
            (None, None, Some(bytes), false) => Ok(Arg::Local(bytes)),
            (None, None, None, true) => Ok(Arg::LoopIndex),
            _ => Err(format!("argument {name} needs one of buffer, scalar, local, loop_index")),
        }
    }
}

impl RawScalar {
    fn bytes(&self) -> Vec<u8> {
        match self {
            RawScalar::Plain(values) => values.bytes(),
            RawScalar::Struct(fields) => fields.iter().flat_map(Values::bytes).collect(),
        }
    }
}

impl Values {
    fn bytes(&self) -> Vec<u8> {
        match &self.value {
            OneOrMany::One(value) => self.r#type.encode(*value),
            OneOrMany::Many(values) => values.iter().flat_map(|value| self.r#type.encode(*value)).collect(),
        }
    }
}
