//! Bare code, with everything that a descriptor would say given by the host.

use super::{Abi, Image, KernelCode, LoadError, Rsrc1, Rsrc2, Segment, UserSgpr};
use gcnjit_isa::Target;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How to start bare code. Arguments are packed into the kernarg segment one after the other, each aligned to its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCode {
    /// The processor.
    pub target: Target,
    /// What is in the first SGPRs, by number; the others below the highest are zero.
    pub sgprs: BTreeMap<u8, UserSgpr>,
    /// How many coordinates of the work-group follow in SGPRs, up to 3.
    pub group_ids: u32,
    /// How many coordinates of the work-item are in VGPRs, 1 to 3.
    pub item_ids: u32,
    /// VGPRs that are zero when a wave starts, but for the coordinates; others hold anything.
    pub vgprs: u32,
    /// LDS of a work-group, in bytes.
    pub lds: u32,
    /// Scratch of a work-item, in bytes. The wave's offset in it follows the work-group's coordinates.
    pub scratch: u32,
}

impl RawCode {
    /// The name of the one kernel.
    pub const NAME: &'static str = "code";
    /// User SGPRs that a wave can have.
    const USER_SGPRS: usize = 16;

    /// Code that gets work-item ids in v0 to v2 and work-group ids in s0 to s2, and nothing else.
    pub fn new(target: Target) -> RawCode {
        RawCode { target, sgprs: BTreeMap::new(), group_ids: 3, item_ids: 3, vgprs: 256, lds: 0, scratch: 0 }
    }

    /// The image of `code`, whose first instruction is at its start.
    pub fn image(&self, code: Vec<u8>) -> Result<Image, LoadError> {
        if code.is_empty() || !code.len().is_multiple_of(4) {
            return Err(LoadError::Raw("the code is not one or more dwords"));
        }
        let user_sgprs = self.user_sgprs()?;
        let count: usize = user_sgprs.iter().map(|value| value.dwords()).sum();
        let size = code.len() as u64;
        let groups = (1 << self.group_ids.min(3)) - 1;
        let items = self.item_ids.clamp(1, 3) - 1;
        let kernel = KernelCode {
            // All SGPRs; f32 denormals are flushed, others kept; DX10_CLAMP and IEEE mode, as compilers set it.
            rsrc1: Rsrc1((self.vgprs.clamp(1, 256).div_ceil(4) - 1) | 0xf << 6 | 0xc0 << 12 | 1 << 21 | 1 << 23),
            rsrc2: Rsrc2(u32::from(self.scratch != 0) | (count as u32) << 1 | groups << 7 | items << 11),
            user_sgprs,
            lds_size: self.lds,
            scratch_size: self.scratch,
            ..KernelCode::bare(RawCode::NAME.to_owned(), Abi::Raw, 0)
        };
        let file = 0..code.len();
        let (relocations, globals, printf, parts) = Default::default();
        Ok(Image {
            target: self.target,
            size,
            segments: vec![Segment { offset: 0, size, file, writable: false, executable: true }],
            relocations,
            kernels: BTreeMap::from([(kernel.name.clone(), Arc::new(kernel))]),
            globals,
            printf,
            parts,
            file: code,
        })
    }

    fn user_sgprs(&self) -> Result<Vec<UserSgpr>, LoadError> {
        let mut values = Vec::new();
        let mut next = 0;
        for (&first, &value) in &self.sgprs {
            let first = usize::from(first);
            if first < next {
                return Err(LoadError::Raw("two values are given for an SGPR"));
            }
            values.extend((next < first).then(|| UserSgpr::Undefined((first - next) as u8)));
            values.push(value);
            next = first + value.dwords();
        }
        match next <= RawCode::USER_SGPRS {
            true => Ok(values),
            false => Err(LoadError::Raw("values are given for SGPRs after the 16 user SGPRs")),
        }
    }
}
