//! Superblocks for several waves that are run together.
//!
//! Waves of a work-group begin alike but for their work-item ids, and those of work-groups that follow each other in x but
//! for this coordinate too. So what a superblock computes from scalars it can compute for several waves at once, and what
//! it proves of addresses as well: the ids count over a wave or a part of it, and what is to be looked at are the first and
//! the last lane of these, for up to four at a time ([`Fused::reach`]). What is left for each wave are loads, arithmetic and
//! stores.
//!
//! [`by_wave`] makes what depends on the coordinate a matter of lanes; [`is_possible`] says of the plan of such a superblock
//! whether waves can be run together.

use super::fuse::Fused;
use super::registers::{RegisterSet, all_read, needed};
use crate::AtEnd;
use crate::access::Origin;
use crate::lane::{Block, Node, Op, Shape, Ty, Value};
use gcnjit_rt::LANES;

/// What there is of a superblock for waves that are run together, beside what there is of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// In how many lanes work-item ids have to count in x, and to be the same in y and z.
    pub reach: usize,
    /// The SGPR that waves begin with their work-group's coordinate x in.
    pub group_id: Option<u8>,
}

impl Alike {
    /// How many lots of lanes that count addresses are computed for at once.
    pub const LOTS: usize = 4;

    /// How many waves they are of.
    #[inline]
    pub fn waves(self) -> usize {
        Alike::LOTS * self.reach / LANES
    }
}

/// Makes what a superblock computes from the work-group's coordinate x, which is in `group_id`, a matter of lanes. `None` if
/// something depends on it that lanes cannot say.
pub fn by_wave(block: &Block, group_id: Option<u8>) -> Option<Block> {
    let mut result = Block::new(block.pc);
    result.accesses.extend(block.accesses.iter().cloned());
    result.access_reads.extend_from_slice(&block.access_reads);
    (result.end, result.instructions, result.term) = (block.end, block.instructions, block.term);
    // The register that still has it, those that would have what depends on it, and each value's new name.
    let mut own = group_id.map_or(RegisterSet::default(), |register| RegisterSet::sgpr(register.into()));
    let mut dependent = RegisterSet::default();
    let mut names: Vec<Value> = Vec::with_capacity(block.nodes.len());
    let needed = needed(std::slice::from_ref(block), AtEnd::Nothing, all_read).pop()?.nodes;
    for (i, node) in block.nodes.iter().enumerate() {
        result.at = block.origin(Value(i as u32));
        let args = node.args.map(|arg| names.get(arg.index()).copied().unwrap_or(Value::NONE));
        let was_uniform = node.args().all(|arg| block.node(arg).shape == Shape::Uniform);
        let is_of_lanes =
            was_uniform && args.iter().any(|arg| *arg != Value::NONE && result.node(*arg).shape == Shape::Lane);
        let register = RegisterSet::sgpr(node.imm & 0xff);
        names.push(match node.op {
            _ if !needed[i] => {
                if node.op == Op::SetSgpr {
                    own = own.without(register);
                }
                Value::NONE
            }
            Op::Sgpr if own.has(register) => result.op(Op::GroupId, Ty::B32, node.fenv, &[], 0),
            Op::Sgpr if dependent.has(register) => return None,
            Op::Scc if dependent.has(RegisterSet::SCC) => return None,
            Op::SetSgpr if is_of_lanes => {
                (own, dependent) = (own.without(register), dependent.and(register));
                Value::NONE
            }
            Op::SetScc if is_of_lanes => {
                dependent = dependent.and(RegisterSet::SCC);
                Value::NONE
            }
            Op::Access if block.access_reads[node.imm as usize].scalars().has(own.and(dependent)) => return None,
            _ if is_of_lanes && !node.is_effect() => {
                can_be_of_lanes(node).then_some(())?;
                let count = node.args().count();
                result.op(node.op, node.ty, node.fenv, &args[..count], node.imm)
            }
            _ => {
                if node.op == Op::SetSgpr {
                    (own, dependent) = (own.without(register), dependent.without(register));
                }
                result.append(Node { args, ..*node })
            }
        });
    }
    result.at = block.at;
    Some(result)
}

/// Whether lanes have a scalar's operation too.
fn can_be_of_lanes(node: &Node) -> bool {
    match node.op {
        Op::Mul | Op::MulHiU | Op::MulHiS | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Select => node.ty != Ty::B64,
        Op::MinU | Op::MaxU | Op::MinS | Op::MaxS => node.ty == Ty::B32,
        Op::Add | Op::MulWide | Op::Shl | Op::Shr | Op::Sar | Op::Icmp(_) => true,
        Op::Lo | Op::Hi | Op::Pack | Op::SExt => true,
        _ => false,
    }
}

/// Whether a superblock's part does nothing but what can be done for several waves: all that it looks at are lanes that
/// count from work-item ids on, before it loads anything.
pub fn is_possible(part: &Fused) -> bool {
    let counts =
        part.accesses.iter().all(|access| access.counting.is_some() && !matches!(access.origin, Origin::Lds { .. }));
    let is_id = |value: Value| part.block.node(value).op != Op::Vgpr || part.block.node(value).imm < 3;
    let looks_first = part.stages.iter().enumerate().all(|(i, stage)| {
        let is_early = i == 0 || stage.ends.is_empty() && stage.checks.is_empty();
        is_early && stage.assumed.is_empty() && stage.ends.iter().all(|(value, _)| is_id(*value))
    });
    counts && looks_first && !part.partial && part.plan.ranks.iter().all(Option::is_some)
}
