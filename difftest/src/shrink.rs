//! Reduces a case that fails to a small one that still fails: fewer waves, instructions and modifiers, plainer
//! operands, fewer lanes, less state.

use crate::case::{Case, Grid, Pointer, Register, SCRATCH, Space};
use crate::program::{Item, canonical, place};
use gcnjit_isa::{Dpp, Ext, Inst, Mem, Mods, Operand, Sdwa, Sel, Unused};
use gcnjit_rt::{Mode, wave::reg};

/// A case being reduced.
struct Shrinker<'a> {
    best: Case,
    fails: &'a mut dyn FnMut(&Case) -> bool,
    /// Runs that are left.
    budget: usize,
}

/// Runs after which a case is small enough.
const BUDGET: usize = 1500;

/// The smallest case found for which `fails` holds; it does for `case`.
pub fn shrink(case: Case, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut shrinker = Shrinker { best: case, fails, budget: BUDGET };
    loop {
        let before = shrinker.size();
        shrinker.waves();
        shrinker.launches();
        shrinker.items();
        shrinker.instructions();
        shrinker.masks();
        shrinker.modes();
        if shrinker.size() == before || shrinker.budget == 0 {
            break;
        }
    }
    shrinker.state();
    shrinker.best
}

/// Instructions in a program.
pub fn instructions(case: &Case) -> usize {
    case.program.iter().filter(|item| item.inst().is_some()).count()
}

impl Shrinker<'_> {
    /// What must become less from round to round.
    fn size(&self) -> (usize, usize, String) {
        let text: Vec<_> = self.best.program.iter().map(|item| format!("{item:?}")).collect();
        let items = self.best.launches.iter().map(|grid| grid.items.iter().product::<u32>() as usize);
        (self.best.waves.len() + items.sum::<usize>(), self.best.program.len(), text.concat())
    }

    /// Takes a change over if the case still fails.
    fn attempt(&mut self, change: impl FnOnce(&mut Case)) -> bool {
        if self.budget == 0 {
            return false;
        }
        let mut case = self.best.clone();
        change(&mut case);
        if place(&case.program, case.target).is_err() {
            return false;
        }
        self.budget -= 1;
        let fails = (self.fails)(&case);
        if fails {
            self.best = case;
        }
        fails
    }

    fn waves(&mut self) {
        let mut index = 0;
        while self.best.waves.len() > 1 && index < self.best.waves.len() {
            if !self.attempt(|case| drop(case.waves.remove(index))) {
                index += 1;
            }
        }
    }

    /// Fewer launches, of fewer work-groups and work-items.
    fn launches(&mut self) {
        let mut index = 0;
        while index < self.best.launches.len() {
            if self.best.launches.len() > 1 && self.attempt(|case| _ = case.launches.remove(index)) {
                continue;
            }
            for dimension in 0..3 {
                for smaller in SMALLER {
                    let grid = self.best.launches[index];
                    let plain = smaller(grid, dimension);
                    if plain != grid {
                        self.attempt(|case| case.launches[index] = plain);
                    }
                }
            }
            index += 1;
        }
    }

    /// Takes out items, many at first.
    fn items(&mut self) {
        let mut chunk = self.best.program.len().div_ceil(2);
        while chunk > 0 {
            let mut at = 0;
            while at < self.best.program.len() {
                let end = (at + chunk).min(self.best.program.len());
                if !self.attempt(|case| drop(case.program.drain(at..end))) {
                    at += chunk;
                }
            }
            chunk /= 2;
        }
    }

    /// Makes each instruction plainer.
    fn instructions(&mut self) {
        for index in 0..self.best.program.len() {
            for simpler in SIMPLER {
                let Item::Inst(inst) = self.best.program[index] else { break };
                let mut plain = inst;
                simpler(&mut plain);
                plain.words = 1;
                if let Some(plain) = canonical(plain, self.best.target).filter(|plain| *plain != inst) {
                    self.attempt(|case| case.program[index] = Item::Inst(plain));
                }
            }
        }
    }

    fn masks(&mut self) {
        for index in 0..self.best.waves.len() {
            let exec = self.best.waves[index].wave.exec();
            let one_lane = (0..64).filter(|lane| exec >> lane & 1 != 0).map(|lane| 1 << lane);
            for mask in [u64::MAX, 0].into_iter().chain(one_lane.take(4)) {
                if mask == exec || self.attempt(|case| case.waves[index].wave.set_exec(mask)) {
                    break;
                }
            }
        }
    }

    fn modes(&mut self) {
        for mask in [0xf, 0xf0, 0x300, Mode::GPR_INDEX | Mode::VSKIP, 7 << Mode::CSP] {
            if self.best.waves.iter().any(|start| start.wave.mode.0 & mask != 0) {
                self.attempt(|case| case.waves.iter_mut().for_each(|start| start.wave.mode.0 &= !mask));
            }
        }
    }

    /// Registers and memory: zero what does not matter, one value for all lanes where that is enough.
    fn state(&mut self) {
        self.budget = self.budget.max(BUDGET / 2);
        for index in 0..self.best.waves.len() {
            self.scalars(index);
            self.vectors(index);
        }
        for space in Space::ALL {
            let len = space.size() as usize;
            self.bytes(space, 0..len);
        }
    }

    fn scalars(&mut self, index: usize) {
        self.attempt(|case| case.waves[index].wave.scc = 0);
        let mut chunk = 32;
        while chunk > 0 {
            for first in (0..reg::EXEC).step_by(chunk) {
                let range = first..(first + chunk).min(reg::EXEC);
                let wave = &self.best.waves[index].wave;
                if wave.sgpr[range.clone()].iter().any(|sgpr| *sgpr != 0) {
                    self.attempt(|case| {
                        case.waves[index].wave.sgpr[range.clone()].fill(0);
                        let inside = |at: Register| {
                            matches!(at, Register::Sgpr(at) | Register::Resource(at) if range.contains(&usize::from(at)))
                        };
                        case.waves[index].pointers.retain(|pointer| !inside(pointer.at));
                    });
                }
            }
            chunk /= 4;
        }
    }

    fn vectors(&mut self, index: usize) {
        let mut chunk = 64;
        while chunk > 0 {
            for first in (0..256).step_by(chunk) {
                let wave = &self.best.waves[index].wave;
                if wave.vgpr[first..first + chunk].iter().flatten().any(|lane| *lane != 0) {
                    self.attempt(|case| {
                        case.waves[index].wave.vgpr[first..first + chunk].fill([0; 64]);
                        let inside = |at: Register| {
                            matches!(at, Register::Vgpr(at) if (first..first + chunk).contains(&usize::from(at)))
                        };
                        case.waves[index].pointers.retain(|pointer| !inside(pointer.at));
                    });
                }
            }
            chunk /= 4;
        }
        for register in 0..256 {
            let row = self.best.waves[index].wave.vgpr[register];
            let exec = self.best.waves[index].wave.exec();
            let lane = exec.trailing_zeros().min(63) as usize;
            if row != [row[lane]; 64] {
                self.attempt(|case| case.waves[index].wave.vgpr[register] = [row[lane]; 64]);
            }
        }
        self.whole_pointers(index);
    }

    /// A pointer that holds for all lanes is easier to read than one that does not.
    fn whole_pointers(&mut self, index: usize) {
        for at in 0..self.best.waves[index].pointers.len() {
            let Pointer { at: register, lanes, .. } = self.best.waves[index].pointers[at];
            if matches!(register, Register::Vgpr(_)) && lanes != u64::MAX {
                self.attempt(|case| case.waves[index].pointers[at].lanes = u64::MAX);
            }
        }
    }

    /// Zeroes the bytes that do not matter, halving until they are few.
    fn bytes(&mut self, space: Space, range: std::ops::Range<usize>) {
        const FEW: usize = SCRATCH as usize / 16;
        if self.best.contents.of(space)[range.clone()].iter().all(|byte| *byte == 0) {
            return;
        }
        let zeroed = self.attempt(|case| case.contents.of_mut(space)[range.clone()].fill(0));
        if !zeroed && range.len() > FEW {
            let middle = (range.start + range.len() / 2).next_multiple_of(4);
            self.bytes(space, range.start..middle);
            self.bytes(space, middle..range.end);
        }
    }
}

/// Ways to make a grid smaller in a dimension.
const SMALLER: [fn(Grid, usize) -> Grid; 5] = [
    |grid, d| Grid { items: with(grid.items, d, grid.group[d]), ..grid },
    |grid, d| Grid { items: with(grid.items, d, grid.items[d].min(2 * grid.group[d])), ..grid },
    |grid, d| Grid { items: with(grid.items, d, grid.items[d].next_multiple_of(grid.group[d])), ..grid },
    |grid, d| Grid { items: with(grid.items, d, 1), group: with(grid.group, d, 1) },
    |grid, d| {
        let groups = grid.items[d].div_ceil(grid.group[d]);
        let size = grid.group[d].min(64);
        Grid { items: with(grid.items, d, groups * size), group: with(grid.group, d, size) }
    },
];

fn with(mut sizes: [u32; 3], dimension: usize, size: u32) -> [u32; 3] {
    sizes[dimension] = size;
    sizes
}

/// Ways to make an instruction plainer.
const SIMPLER: [fn(&mut Inst); 13] = [
    |inst| inst.mods = Mods { op_sel_hi: inst.mods.op_sel_hi, ..Mods::default() },
    |inst| inst.mods.abs = 0,
    |inst| (inst.mods.neg, inst.mods.neg_hi) = (0, 0),
    |inst| inst.mods.omod = 0,
    |inst| inst.mods.clamp = false,
    |inst| inst.mods.op_sel = 0,
    |inst| with_ext(inst, plain_parts),
    |inst| with_ext(inst, |ext| matches_dpp(ext, |dpp| (dpp.bank_mask, dpp.row_mask) = (15, 15))),
    |inst| with_ext(inst, |ext| matches_mem(ext, |mem| (mem.slc, mem.nv) = (false, false))),
    |inst| with_ext(inst, |ext| matches_mem(ext, |mem| mem.glc = false)),
    |inst| with_ext(inst, |ext| matches_mem(ext, |mem| mem.offset = 0)),
    |inst| replace_sources(inst, |operand| matches!(operand, Operand::Literal(_)), Operand::Inline(129)),
    |inst| replace_sources(inst, |operand| matches!(operand, Operand::Special(_)), Operand::Inline(129)),
];

fn with_ext(inst: &mut Inst, change: impl FnOnce(&mut Ext)) {
    change(&mut inst.ext);
}

fn plain_parts(ext: &mut Ext) {
    if let Ext::Sdwa(sdwa) = ext {
        *sdwa = Sdwa { dst_sel: Sel::Dword, dst_unused: Unused::Pad, src_sel: [Sel::Dword; 2], sext: 0 };
    }
}

fn matches_dpp(ext: &mut Ext, change: impl FnOnce(&mut Dpp)) {
    if let Ext::Dpp(dpp) = ext {
        change(dpp);
    }
}

fn matches_mem(ext: &mut Ext, change: impl FnOnce(&mut Mem)) {
    if let Ext::Mem(mem) = ext {
        change(mem);
    }
}

fn replace_sources(inst: &mut Inst, is: impl Fn(&Operand) -> bool, by: Operand) {
    inst.src.iter_mut().filter(|operand| is(operand)).for_each(|operand| *operand = by);
}
