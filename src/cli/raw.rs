//! `run --raw`: how bare code is started.

use crate::cli::failure::Failure;
use crate::cli::value;
use gcnjit::rt::code_object::{Slot, UserSgpr};
use gcnjit::{Device, Error, Module, RawCode, Target};

/// What a descriptor would say.
#[derive(Clone, clap::Args)]
pub struct Start {
    /// The file is bare code for the processor of --gfx, as `gcnjit asm` writes it.
    #[arg(long, requires = "gfx", conflicts_with_all = ["kernel", "job"])]
    pub raw: bool,
    /// What is in the first SGPRs.
    #[arg(long = "sgpr", value_name = "N=V", requires = "raw", help = HELP)]
    pub sgprs: Vec<String>,
    /// With --raw: how many coordinates of the work-group are in the SGPRs after the last --sgpr.
    #[arg(long, value_name = "0..3", requires = "raw", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(0..=3))]
    pub group_ids: u32,
    /// With --raw: how many coordinates of the work-item are in v0, v1, v2.
    #[arg(long, value_name = "1..3", requires = "raw", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=3))]
    pub vgpr_ids: u32,
    /// With --raw: bytes of LDS of a work-group, before that of --arg lds.
    #[arg(long, value_name = "BYTES", requires = "raw", value_parser = value::size32, default_value = "0")]
    pub lds: u32,
    /// With --raw: bytes of scratch of a work-item. The wave's offset follows the work-group's coordinates.
    #[arg(long, value_name = "BYTES", requires = "raw", value_parser = value::size32, default_value = "0")]
    pub scratch: u32,
}

/// What `--help` says about `--sgpr`.
const HELP: &str = "With --raw: what is in sN, or from there on, N up to 15:
NUMBER         32 bits, or f32:VALUE and the like
kernarg        address of the arguments, one after the other, each aligned to its size; 2 SGPRs
packet         address of the dispatch packet; 2 SGPRs
address:I      address of the buffer of the I-th --arg, from 0 on; 2 SGPRs
resource:I     V# of that buffer; 4 SGPRs
scratch        V# of the scratch memory; 4 SGPRs";

impl Start {
    /// Loads the code in `file`.
    pub fn load(&self, device: &Device, file: &str, target: Target) -> Result<Module, Failure> {
        let read = |source| Error::Read { file: file.to_owned(), source };
        self.place(device, file, std::fs::read(file).map_err(read)?, target)
    }

    /// Loads code that messages call `name`.
    pub fn place(&self, device: &Device, name: &str, code: Vec<u8>, target: Target) -> Result<Module, Failure> {
        let mut raw = RawCode {
            group_ids: self.group_ids,
            item_ids: self.vgpr_ids,
            lds: self.lds,
            scratch: self.scratch,
            ..RawCode::new(target)
        };
        for spec in &self.sgprs {
            let (sgpr, value) = sgpr(spec).map_err(|what| Failure::usage(format!("--sgpr {spec}: {what}")))?;
            if raw.sgprs.insert(sgpr, value).is_some() {
                return Err(Failure::usage(format!("--sgpr {spec}: s{sgpr} is given twice")));
            }
        }
        Ok(Module::load_raw(device, name, code, &raw)?)
    }
}

/// `N=V`.
fn sgpr(spec: &str) -> Result<(u8, UserSgpr), String> {
    let (number, text) = spec.split_once('=').ok_or("it has no '='")?;
    let sgpr = number.parse().ok().filter(|number| *number < 16).ok_or("N is not 0 to 15")?;
    let slot = |index: &str| index.parse().map(Slot::Argument).map_err(|_| format!("'{index}' is no argument's place"));
    let value = match (text, text.split_once(':')) {
        ("kernarg", _) => UserSgpr::KernargPtr,
        ("packet", _) => UserSgpr::DispatchPtr,
        ("scratch", _) => UserSgpr::PrivateSegmentBuffer,
        (_, Some(("address", index))) => UserSgpr::Address(slot(index)?),
        (_, Some(("resource", index))) => UserSgpr::Resource(slot(index)?),
        (_, form) => {
            UserSgpr::Constant(number32(form.unwrap_or((if text.starts_with('-') { "i32" } else { "u32" }, text)))?)
        }
    };
    Ok((sgpr, value))
}

/// A scalar of a type of 32 bits.
fn number32((ty, text): (&str, &str)) -> Result<u32, String> {
    let bytes = value::scalar(ty, text).ok_or_else(|| format!("there is no form '{ty}'"))??;
    let dword = bytes.try_into().map_err(|_| format!("{ty} has not 32 bits"))?;
    Ok(u32::from_le_bytes(dword))
}
