//! How values step from lane to lane: a guess, for addresses that count.
//!
//! Most addresses are a base plus a constant times the lane's number, if not over the wave then within each chunk of
//! sixteen lanes, a row of a two-dimensional work-group. [`guess`] says for all blocks of a unit which values may be like
//! that, given what the registers of the wave look like that is about to enter it. It proves nothing: it takes EXEC to be
//! all ones, and other waves may come with other registers. Who relies on a stride ([`super::fuse`]) checks those of
//! registers, and for a value made of them what [`check`] asks for.

use super::forward::forward;
use super::registers::RegisterSet;
use crate::lane::{Block, Icc, Node, Op, Shape, Ty, Value};
use crate::wide;
use gcnjit_rt::{Env, LANES, Row, Wave};

/// Lanes of a chunk.
pub const CHUNK: usize = 16;
/// Strides are small, so that lanes that count span no more than this, which is less than 2^16.
const SPAN: u64 = 1 << 15;

/// What a value adds from each lane of a chunk to the next one, if that may be the same for all of them.
pub type Stride = Option<i32>;

/// The strides of VGPRs at some point.
type Registers = [Stride; 256];

/// What VGPRs look like where a unit is entered.
pub struct Start {
    pc: u64,
    strides: Registers,
    /// Whether those that count do so over all of the wave.
    over_wave: bool,
    /// EXEC.
    exec: u64,
    /// Whether most waves are not where values are clamped.
    inside: bool,
    /// In how many lanes work-item ids count where waves begin, x by one and the others not; 0 if in less than a chunk's.
    ids: [usize; 3],
    /// The SGPR that waves begin with their work-group's coordinate x in.
    group_id: Option<u8>,
    /// If waves are run together that begin alike ([`super::alike`]): in how many lanes ids count.
    alike: Option<usize>,
}

impl Start {
    /// Registers of the wave that is about to enter at its pc. Nobody asks without the wider back end, so there it does not
    /// look.
    pub fn of(wave: &Wave, env: &Env<'_>) -> Start {
        if !wide::is_available() {
            return Start::unknown(wave.pc);
        }
        let is_full = |chunk: &usize| wave.exec() >> (CHUNK * chunk) & 0xffff == 0xffff;
        let full: Vec<usize> = (0..4).filter(is_full).collect();
        let ids = [(0, 1), (1, 0), (2, 0)].map(|(register, stride)| reach(&wave.vgpr[register], stride));
        let mut start = Start { exec: wave.exec(), ids, group_id: env.group_id, ..Start::unknown(wave.pc) };
        for (stride, row) in start.strides.iter_mut().zip(&wave.vgpr[..usize::from(env.registers.vgprs)]) {
            *stride = full.first().map(|chunk| row[CHUNK * chunk + 1].wrapping_sub(row[CHUNK * chunk]) as i32);
            *stride = stride.filter(|stride| {
                is_small(*stride, CHUNK) && full.iter().all(|chunk| counts(row, CHUNK * chunk, CHUNK, *stride))
            });
            start.over_wave &= stride.is_none_or(|stride| stride == 0 || full.len() < 4 || counts(row, 0, 64, stride));
        }
        start
    }

    /// Nothing is known.
    pub fn unknown(pc: u64) -> Start {
        let strides = [None; 256];
        Start { pc, strides, over_wave: true, exec: u64::MAX, inside: true, ids: [0; 3], group_id: None, alike: None }
    }

    /// The same registers in waves where values are clamped, such as those at the edge of an image.
    pub fn at_edge(&self) -> Start {
        Start { inside: false, ..*self }
    }

    /// Where the unit is entered.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// EXEC there.
    pub fn exec(&self) -> u64 {
        self.exec
    }

    /// What they look like in waves that are run together, of which these registers are read, if this wave could be one.
    pub fn alike(&self, read: RegisterSet) -> Option<Start> {
        let ids = (0..).zip(self.ids).filter(|(register, _)| read.has_vgpr(*register));
        let reach = ids.map(|(_, reach)| reach).min().unwrap_or(LANES);
        let start = Start { alike: Some(reach), ..Start::of_kernel(self.pc, self.group_id) };
        (reach > 0 && self.exec == u64::MAX).then_some(start)
    }

    /// The SGPR that waves begin with their work-group's coordinate x in.
    pub fn group_id(&self) -> Option<u8> {
        self.group_id
    }

    /// In how many lanes registers count.
    fn reach(&self) -> usize {
        self.alike.unwrap_or(CHUNK)
    }

    /// What registers mostly look like where a kernel begins: ids in x count.
    pub fn of_kernel(pc: u64, group_id: Option<u8>) -> Start {
        let mut start = Start { group_id, ids: [LANES; 3], ..Start::unknown(pc) };
        start.strides[..3].copy_from_slice(&[Some(1), Some(0), Some(0)]);
        start
    }
}

/// Whether so many lanes count by a stride.
fn counts(row: &[u32; 64], first: usize, lanes: usize, stride: i32) -> bool {
    row[first..first + lanes].windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) as i32 == stride)
}

/// The most lanes of a wave that count again and again, from a power of two to the next; 0 if not even a chunk's do.
fn reach(row: &Row, stride: i32) -> usize {
    let all_count = |lanes: &usize| (0..LANES).step_by(*lanes).all(|first| counts(row, first, *lanes, stride));
    [4 * CHUNK, 2 * CHUNK, CHUNK].into_iter().find(all_count).unwrap_or(0)
}

/// Whether a stride of so many lanes is one that is relied on.
pub fn is_small(stride: i32, reach: usize) -> bool {
    u64::from(stride.unsigned_abs()) * reach as u64 <= SPAN
}

/// The strides in a block.
pub struct Guess {
    /// Those of its values.
    pub values: Vec<Stride>,
    /// Those of the registers of each access' address.
    pub addresses: Vec<[Stride; 2]>,
    /// Whether what counts does so over all of the wave.
    pub over_wave: bool,
    /// Whether what is clamped does ([`is_clamped`]).
    pub inside: bool,
    /// In how many lanes values count.
    pub reach: usize,
    /// Whether it is for waves that are run together.
    pub is_alike: bool,
}

/// The strides in each block of a unit that is entered with such registers.
pub fn guess(blocks: &[Block], start: &Start) -> Vec<Guess> {
    let after = |block: &Block, mut registers: Registers| {
        walk(block, &mut registers, start);
        registers
    };
    let entry = forward(blocks, start.pc, start.strides, after, meet);
    let guess = |(block, entry): (&Block, Option<Registers>)| {
        let (values, addresses) = walk(block, &mut entry.unwrap_or([None; 256]), start);
        let Start { over_wave, inside, .. } = *start;
        Guess { values, addresses, over_wave, inside, reach: start.reach(), is_alike: start.alike.is_some() }
    };
    blocks.iter().zip(entry).map(guess).collect()
}

fn meet(some: Registers, others: Registers) -> Registers {
    std::array::from_fn(|i| some[i].filter(|_| some[i] == others[i]))
}

/// Goes through a block: the strides of its values and of its accesses' addresses.
fn walk(block: &Block, registers: &mut Registers, start: &Start) -> (Vec<Stride>, Vec<[Stride; 2]>) {
    let mut values: Vec<Stride> = Vec::with_capacity(block.nodes.len());
    let mut addresses = vec![[None; 2]; block.accesses.len()];
    for node in &block.nodes {
        let of = |value: Value| values[value.index()];
        let stride = match node.op {
            Op::Vgpr => registers[(node.imm & 0xff) as usize],
            Op::Select if is_mask(block, node.args[0]) => of(node.args[1]),
            Op::And if node.ty == Ty::B1 && is_mask(block, node.args[0]) => of(node.args[1]),
            Op::And if node.ty == Ty::B1 && is_mask(block, node.args[1]) => of(node.args[0]),
            _ if !start.inside && is_clamped(node, of) => None,
            _ => stride(block, node, start.reach(), of),
        };
        match node.op {
            Op::SetVgpr => registers[(node.imm & 0xff) as usize] = of(node.args[0]),
            Op::SetVgprAt => *registers = [None; 256],
            Op::Access => {
                let access = &block.accesses[node.imm as usize];
                if let Some(lanes) = access.lane_move() {
                    let of = |register: usize| registers.get(register).copied().flatten();
                    let high = if lanes.has_pairs() { of(lanes.address + 1) } else { None };
                    addresses[node.imm as usize] = [of(lanes.address), high];
                }
                let written = access.writes_vgprs();
                registers.iter_mut().take(written.end).skip(written.start).for_each(|stride| *stride = None);
            }
            _ => {}
        }
        values.push(stride);
    }
    (values, addresses)
}

fn is_mask(block: &Block, value: Value) -> bool {
    block.node(value).op == Op::Spread
}

/// The stride of a value in so many lanes, given those of its arguments, if [`check`] finds it right.
pub fn stride(block: &Block, node: &Node, reach: usize, of: impl Fn(Value) -> Stride) -> Stride {
    if node.shape == Shape::Uniform {
        return Some(0);
    }
    let [a, b, c] = node.args;
    let same = node.args().all(|arg| of(arg) == Some(0)).then_some(0);
    let constant = |value: Value| block.as_const(value).and_then(|bits| i32::try_from(bits).ok());
    let found = match node.op {
        Op::LaneId => 1,
        Op::GroupId => 0,
        Op::Add => of(a)? + of(b)?,
        Op::Sub => of(a)? - of(b)?,
        Op::Mul => match (of(a)?, of(b)?) {
            (0, 0) => 0,
            (stride, 0) => stride.checked_mul(constant(b)?)?,
            (0, stride) => stride.checked_mul(constant(a)?)?,
            _ => return None,
        },
        Op::Shl if of(a)? != 0 => of(a)?.checked_mul(1_i32.checked_shl(constant(b)? as u32)?)?,
        // Lanes whose upper bits are the same: as many as a power of two that all these lanes fit in.
        Op::Shr | Op::Sar if of(a)? != 0 => {
            let lanes = reach as u64 * u64::from(of(a)?.unsigned_abs());
            (lanes <= 1_u64.checked_shl(constant(b)? as u32)?).then_some(0)?
        }
        Op::Icmp(Icc::Ult | Icc::Ule | Icc::Slt | Icc::Sle) if block.node(a).ty == Ty::B32 => {
            of(a).and(of(b)).map(|_| 0)?
        }
        Op::MinU | Op::MaxU | Op::MinS | Op::MaxS if node.ty == Ty::B32 => match (of(a)?, of(b)?) {
            (stride, 0) | (0, stride) => stride,
            (stride, other) => (stride == other).then_some(stride)?,
        },
        Op::Select => of(a).filter(|_| of(b) == of(c)).and(of(b))?,
        Op::Pack => of(b).filter(|high| *high == 0).and(of(a))?,
        Op::Lo => of(a)?,
        Op::Hi => of(a).map(|_| 0)?,
        Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Sar => same?,
        Op::Icmp(_) | Op::SExt | Op::MulHiU | Op::MulHiS | Op::MulWide => same?,
        _ => return None,
    };
    is_small(found, reach).then_some(found)
}

/// Whether a value counts up to some lane, maybe, and is the same from there on.
pub fn is_clamped(node: &Node, of: impl Fn(Value) -> Stride) -> bool {
    let is_limit = matches!(node.op, Op::MinU | Op::MaxU | Op::MinS | Op::MaxS);
    is_limit && !node.args().all(|arg| of(arg) == Some(0))
}

/// What has to be so in each chunk for a value to have its stride, if its arguments have theirs. The sums of small strides
/// being exact modulo the width, other operations need nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// The arguments that stride go through the integers in order, signed ones or not: none wraps.
    pub ordered: Option<Signed>,
    /// The last lane is as far from the first one as the stride says.
    pub ends: bool,
}

/// How an integer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signed {
    /// As two's complement.
    Yes,
    /// As it is.
    No,
}

/// What to check of a value that [`stride`] knows the stride of.
pub fn check(node: &Node, of: impl Fn(Value) -> Stride) -> Check {
    if node.shape == Shape::Uniform || node.args().all(|arg| of(arg) == Some(0)) {
        return Check::default();
    }
    match node.op {
        // Linear integers are ordered the same way at both ends and in between, but for one change.
        Op::Icmp(Icc::Ult | Icc::Ule) | Op::MinU | Op::MaxU => Check { ordered: Some(Signed::No), ends: true },
        Op::Icmp(_) | Op::MinS | Op::MaxS => Check { ordered: Some(Signed::Yes), ends: true },
        // Between two lanes with the same upper bits, and less apart than these are worth, all have them.
        Op::Shr | Op::Sar | Op::Hi => Check { ordered: None, ends: true },
        Op::Pack => Check { ordered: Some(Signed::No), ends: false },
        _ => Check::default(),
    }
}

pub mod claims;
#[cfg(test)]
mod tests;
