//! The text that says a Catalyst kernel's arguments: lines `;KEY:FIELD:…`.
//!
//! Arguments are in constant buffer 1 at the offsets that the text says. A pointer is an offset in what the descriptor
//! of its slot describes.

use super::{Access, Arg, ArgKind, LoadError, Slot};

/// The largest constant buffer of arguments, in bytes.
const MAX_SIZE: u32 = 1 << 20;

/// What the text says.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub args: Vec<Arg>,
    /// Bytes of arguments.
    pub size: u32,
    /// Static LDS in bytes.
    pub lds: u32,
    pub required_group: Option<[u32; 3]>,
    /// Whether the program's constants are used.
    pub constants: bool,
    /// The UAV that they are reached through; otherwise it is constant buffer 2.
    pub constant_uav: Option<u16>,
    /// The program's own samplers.
    pub samplers: Vec<(Slot, u32)>,
    /// What the kernel needs that there is not.
    pub missing: Option<&'static str>,
}

/// A line that can't be.
#[derive(Debug)]
pub(super) struct Bad {
    line: usize,
    what: &'static str,
}

impl Bad {
    /// The error, in the metadata of a kernel.
    pub(super) fn of(self, kernel: &str) -> LoadError {
        LoadError::Metadata { path: format!("{kernel}, line {}", self.line), what: self.what }
    }
}

impl Metadata {
    /// Parses the text of a kernel in a binary with device pointers of 64 bits, or 32.
    pub(super) fn parse(text: &[u8], is64: bool) -> Result<Metadata, Bad> {
        let mut metadata = Metadata::default();
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let bad = |what| Bad { line: index + 1, what };
            let line = str::from_utf8(line).map_err(|_| bad("is not text"))?;
            let Some(line) = line.trim_end_matches(['\0', '\r']).strip_prefix(';') else { continue };
            metadata.line(&Fields(line.split(':').collect()), is64).map_err(bad)?;
        }
        metadata.size = metadata.size.next_multiple_of(16);
        Ok(metadata)
    }

    fn line(&mut self, fields: &Fields<'_>, is64: bool) -> Result<(), &'static str> {
        match fields.0[0] {
            "memory" => match fields.text(1)? {
                "hwlocal" => self.lds = fields.number(2)?,
                "datareqd" => self.constants = true,
                _ => {}
            },
            "cws" => self.required_group = Some([fields.number(1)?, fields.number(2)?, fields.number(3)?]),
            "cbid" => self.constant_uav = Some(slot(fields.number(1)?)?),
            "value" => return self.add(fields, 5, value(fields)?),
            "pointer" => return self.add(fields, 5, pointer(fields, is64)?),
            "image" => return self.add(fields, 6, image(fields)?),
            "sampler" => self.sampler(fields)?,
            "counter" => self.missing = Some("atomic counters"),
            "reflection" => {
                if let (Some(arg), Ok(name)) = (self.args.get_mut(fields.number(1)? as usize), fields.text(2)) {
                    arg.type_name = Some(name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `;sampler:NAME:ID:LOC:VALUE`: the program's own if LOC is 1, otherwise the argument with the name, which has a line
    /// as a value before.
    fn sampler(&mut self, fields: &Fields<'_>) -> Result<(), &'static str> {
        let slot = Slot::Sampler(slot(fields.number(2)?)?);
        if fields.number(3)? == 1 {
            self.samplers.push((slot, fields.number(4)?));
            return Ok(());
        }
        let name = fields.text(1)?;
        let arg = self.args.iter_mut().find(|arg| arg.name.as_deref() == Some(name));
        let arg = arg.filter(|arg| arg.size == 4).ok_or("there is no argument for the sampler")?;
        arg.kind = ArgKind::Described(slot);
        Ok(())
    }

    /// Adds an argument; field `place` says its offset.
    fn add(&mut self, fields: &Fields<'_>, place: usize, arg: Arg) -> Result<(), &'static str> {
        let offset = fields.number(place)?;
        let end = offset.checked_add(arg.room()).filter(|end| *end <= MAX_SIZE);
        self.size = self.size.max(end.ok_or("the argument is outside of 1 MiB")?);
        self.args.push(Arg { offset, ..arg });
        Ok(())
    }
}

/// What is between the colons.
struct Fields<'a>(Vec<&'a str>);

impl<'a> Fields<'a> {
    fn text(&self, index: usize) -> Result<&'a str, &'static str> {
        self.0.get(index).copied().ok_or("a field is missing")
    }

    fn number(&self, index: usize) -> Result<u32, &'static str> {
        self.text(index)?.parse().map_err(|_| "a field is not a number")
    }
}

fn slot(number: u32) -> Result<u16, &'static str> {
    u16::try_from(number).ok().filter(|slot| *slot < Slot::COUNT).ok_or("the descriptor's slot is too high")
}

fn argument(fields: &Fields<'_>, size: u32, kind: ArgKind) -> Arg {
    let name = fields.text(1).ok().map(str::to_owned);
    Arg { name, type_name: None, offset: 0, size, kind, align: 1, access: Access::ReadWrite }
}

/// `;value:NAME:TYPE:COUNT:cb:OFFSET`, or `:struct:SIZE:`. A vector of three takes the room of four.
fn value(fields: &Fields<'_>) -> Result<Arg, &'static str> {
    let count = fields.number(3)?;
    let (element, signed) = match fields.text(2)? {
        "struct" => (1, None),
        "i8" => (1, Some(true)),
        "u8" => (1, Some(false)),
        "i16" => (2, Some(true)),
        "u16" => (2, Some(false)),
        "i32" | "u32" | "float" => (4, None),
        "i64" | "u64" | "double" => (8, None),
        _ => return Err("the type of the value is unknown"),
    };
    let count = if count == 3 && (signed.is_some() || element > 1) { 4 } else { count };
    let size = count.checked_mul(element).filter(|size| *size <= MAX_SIZE).ok_or("the argument is outside of 1 MiB")?;
    let kind = match signed {
        Some(signed) => ArgKind::Widened { element: element as u8, signed },
        None => ArgKind::Value,
    };
    Ok(argument(fields, size, kind))
}

/// `;image:NAME:DIM:RO|WO|RW:ID:cb:OFFSET`: what is written is a UAV.
fn image(fields: &Fields<'_>) -> Result<Arg, &'static str> {
    let id = slot(fields.number(4)?)?;
    let (slot, access) = match fields.text(3)? {
        "RO" => (Slot::Image(id), Access::ReadOnly),
        "WO" => (Slot::Uav(id), Access::WriteOnly),
        "RW" => (Slot::Uav(id), Access::ReadWrite),
        _ => return Err("the image's access is unknown"),
    };
    Ok(Arg { access, ..argument(fields, 32, ArgKind::Described(slot)) })
}

/// `;pointer:NAME:TYPE:1:cb:OFFSET:SPACE:ID:ALIGN:RO|RW:VOLATILE:RESTRICT`.
fn pointer(fields: &Fields<'_>, is64: bool) -> Result<Arg, &'static str> {
    let id = fields.number(7)?;
    let kind = match fields.text(6)? {
        "uav" | "c" => ArgKind::Bound(Slot::Uav(slot(id)?)),
        "hc" => ArgKind::Bound(Slot::Const(slot(id)?)),
        "hl" => ArgKind::DynamicLds,
        _ => return Err("the address space is unknown"),
    };
    let align = fields.number(8).unwrap_or(1).max(16);
    let align = if kind == ArgKind::DynamicLds && align.is_power_of_two() { align } else { 1 };
    let access = if fields.text(9) == Ok("RO") { Access::ReadOnly } else { Access::ReadWrite };
    let size = if is64 { 8 } else { 4 };
    Ok(Arg { align, access, ..argument(fields, size, kind) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_where_the_lines_say() {
        let text = ";ARGSTART:__OpenCL_k_kernel\n;memory:hwlocal:512\n;cws:64:2:1\n;value:n:u32:1:1:0\n\
                    ;value:c:i8:3:1:16\n;value:s:struct:12:1:32\n;pointer:out:float:1:1:48:uav:10:4:RW:0:0\n\
                    ;pointer:tmp:double:1:1:64:hl:1:8:RW:0:0\n;memory:datareqd\n;reflection:0:uint\n;ARGEND:k\n";
        let metadata = Metadata::parse(text.as_bytes(), false).unwrap();
        assert_eq!((metadata.lds, metadata.required_group, metadata.size), (512, Some([64, 2, 1]), 80));
        assert!(metadata.constants && metadata.missing.is_none());
        let kinds: Vec<_> = metadata.args.iter().map(|arg| (arg.kind, arg.offset, arg.size, arg.align)).collect();
        let widened = ArgKind::Widened { element: 1, signed: true };
        let bound = ArgKind::Bound(Slot::Uav(10));
        let want = [
            (ArgKind::Value, 0, 4, 1),
            (widened, 16, 4, 1),
            (ArgKind::Value, 32, 12, 1),
            (bound, 48, 4, 1),
            (ArgKind::DynamicLds, 64, 4, 16),
        ];
        assert_eq!(kinds, want);
        assert_eq!(metadata.args[0].type_name.as_deref(), Some("uint"));
    }

    #[test]
    fn images_and_samplers_have_slots() {
        let text = ";image:from:2D:RO:3:1:0\n;image:to:2D:WO:1:1:32\n;value:how:u32:1:1:64\n;sampler:how:2:0:0\n\
                    ;sampler:unknown_22:0:1:22\n";
        let metadata = Metadata::parse(text.as_bytes(), false).unwrap();
        let kinds: Vec<_> = metadata.args.iter().map(|arg| (arg.kind, arg.offset, arg.size)).collect();
        let of = ArgKind::Described;
        let want = [(of(Slot::Image(3)), 0, 32), (of(Slot::Uav(1)), 32, 32), (of(Slot::Sampler(2)), 64, 4)];
        assert_eq!((kinds.as_slice(), metadata.size), (&want[..], 80));
        assert_eq!(metadata.samplers, [(Slot::Sampler(0), 22)]);
        assert!(Metadata::parse(b";sampler:other:2:0:0", false).is_err());
        assert!(Metadata::parse(b";image:a:2D:XX:3:1:0", false).is_err());
    }

    #[test]
    fn bad_lines_are_named() {
        for line in ["value:n:u32:1:1", "value:n:u33:1:1:0", "value:n:u32:x:1:0", "pointer:p:float:1:1:0:zz:1:4:RW:0:0"]
        {
            let text = format!(";ARGSTART:k\n;{line}\n");
            let error = Metadata::parse(text.as_bytes(), false).unwrap_err().of("k");
            assert!(error.to_string().starts_with("metadata: k, line 2: "), "{error}");
        }
        let far = b";value:n:struct:4000000000:1:4000000000";
        assert!(Metadata::parse(far, false).is_err());
    }
}
