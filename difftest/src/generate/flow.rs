//! Control flow: branches, loops, calls and forks, uniform and divergent, made so that they end.
//!
//! Registers, a pair for each depth: s16 to s23 count loops and hold the depth of the branch stack, s24 to s31 link calls
//! and save EXEC, v16 to v23 count divergent loops. What a body does to EXEC, VCC and SCC is its own affair; only these
//! registers matter for ending, and a body that gets at them (s_movreld_b32, indexed VGPRs) is stopped by the budget of
//! instructions.

use super::Generator;
use super::statement::{ops, scalar};
use crate::program::{Item, Label};
use gcnjit_isa::{Op, Operand, Sop1, Sop2, Sopk, Sopp, asm};

/// Most constructs inside each other.
pub const DEPTH: usize = 3;

impl Generator<'_> {
    /// A new label.
    pub fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels
    }

    /// Appends a branch to a label.
    pub fn jump(&mut self, op: Op, label: Label) {
        let at = op.info().srcs.iter().position(|ty| *ty == gcnjit_isa::Ty::label).unwrap_or(0);
        let mut src = [Operand::None; 2];
        src[at] = Operand::Imm(0);
        let inst = scalar(op, [Operand::None; 2], src, self.target);
        self.program.push(Item::Jump(inst, label));
    }

    /// Appends what a line of assembly says, if the target has it.
    fn line(&mut self, text: &str) {
        if let Ok(inst) = asm::parse(text, self.target) {
            self.program.push(Item::Inst(inst));
        }
    }

    /// The pair of SGPRs at `base`, one for each depth.
    fn pair(&self, base: u8) -> Operand {
        Operand::Sgpr(base + 2 * self.depth as u8)
    }

    /// A random construct with a random body.
    pub fn construct(&mut self) {
        match self.random.below(8) {
            0 | 1 => self.branch(),
            2 | 3 => self.divergent_branch(),
            4 => self.counted_loop(),
            5 => self.divergent_loop(),
            6 => self.call(),
            _ => self.fork(Op::Sopk(Sopk::s_cbranch_i_fork)),
        }
    }

    /// Over a body, or not.
    fn branch(&mut self) {
        const BRANCHES: [Sopp; 6] = [
            Sopp::s_cbranch_scc0,
            Sopp::s_cbranch_scc1,
            Sopp::s_cbranch_vccz,
            Sopp::s_cbranch_vccnz,
            Sopp::s_cbranch_execz,
            Sopp::s_cbranch_execnz,
        ];
        let op = Op::Sopp(self.random.pick(&BRANCHES));
        self.skip(op);
    }

    /// A branch over a body.
    pub fn skip(&mut self, op: Op) {
        let over = self.label();
        self.jump(op, over);
        self.body();
        self.program.push(Item::Label(over));
    }

    /// A body, and perhaps another, for the lanes that a comparison says.
    fn divergent_branch(&mut self) {
        let save = self.pair(24);
        let (over, end) = (self.label(), self.label());
        self.comparison();
        let op = self.random.pick(&[Sop1::s_and_saveexec_b64, Sop1::s_andn2_saveexec_b64, Sop1::s_xor_saveexec_b64]);
        self.push_scalar(Op::Sop1(op), [save, Operand::None], [Operand::VCC, Operand::None]);
        if self.random.once_in(2) {
            self.jump(Op::Sopp(Sopp::s_cbranch_execz), over);
        }
        self.body();
        self.program.push(Item::Label(over));
        if self.random.once_in(2) {
            self.push_scalar(Op::Sop2(Sop2::s_xor_b64), [Operand::EXEC, Operand::None], [Operand::EXEC, save]);
            self.jump(Op::Sopp(Sopp::s_cbranch_execz), end);
            self.body();
        }
        self.program.push(Item::Label(end));
        if self.random.once_in(2) {
            self.push_scalar(ops::MOV64, [Operand::EXEC, Operand::None], [save, Operand::None]);
        } else {
            self.push_scalar(Op::Sop2(Sop2::s_or_b64), [Operand::EXEC, Operand::None], [Operand::EXEC, save]);
        }
    }

    /// A comparison of data into VCC.
    fn comparison(&mut self) {
        let (x, y) = (self.random.below(10), self.random.below(10));
        let relation = self.random.pick(&["lt_f32", "gt_i32", "le_u32", "eq_u32", "neq_f32", "ge_u32"]);
        self.line(&format!("v_cmp_{relation}_e32 vcc, v{x}, v{y}"));
    }

    /// A body a few times, for all lanes.
    fn counted_loop(&mut self) {
        let Operand::Sgpr(counter) = self.pair(16) else { return };
        let counter = Operand::Sgpr(counter);
        let times = 1 + self.random.below(4) as i32;
        self.push_scalar(ops::MOVK, [counter, Operand::None], [Operand::Imm(times), Operand::None]);
        let again = self.label();
        self.program.push(Item::Label(again));
        self.body();
        self.push_scalar(ops::SUB, [counter, Operand::None], [counter, Operand::Inline(129)]);
        self.push_scalar(ops::CMP, [Operand::None; 2], [counter, Operand::Inline(128)]);
        self.jump(Op::Sopp(Sopp::s_cbranch_scc1), again);
    }

    /// A body as often as each lane wants: lanes leave one after the other.
    fn divergent_loop(&mut self) {
        let (save, v) = (self.pair(24), 16 + 2 * self.depth);
        let lanes = self.random.pick(&["v0", "v1", "v2", "v3"]);
        self.line(&format!("v_and_b32_e32 v{v}, 3, {lanes}"));
        self.push_scalar(ops::MOV64, [save, Operand::None], [Operand::EXEC, Operand::None]);
        let again = self.label();
        self.program.push(Item::Label(again));
        self.body();
        self.line(&format!("v_add_i32_e32 v{v}, vcc, -1, v{v}"));
        self.line(&format!("v_add_u32_e32 v{v}, vcc, -1, v{v}"));
        self.line(&format!("v_add_u32_e32 v{v}, -1, v{v}"));
        self.line(&format!("v_cmp_lt_i32_e32 vcc, 0, v{v}"));
        self.push_scalar(Op::Sop2(Sop2::s_and_b64), [Operand::EXEC, Operand::None], [Operand::EXEC, Operand::VCC]);
        self.jump(Op::Sopp(Sopp::s_cbranch_execnz), again);
        self.push_scalar(ops::MOV64, [Operand::EXEC, Operand::None], [save, Operand::None]);
    }

    /// The address of `label` in a pair.
    fn address_of(&mut self, pair: Operand, label: Label) {
        let Operand::Sgpr(low) = pair else { return };
        let high = Operand::Sgpr(low + 1);
        self.push_scalar(ops::GETPC, [pair, Operand::None], [Operand::None; 2]);
        let add = scalar(ops::ADD, [pair, Operand::None], [pair, Operand::Literal(1 << 20)], self.target);
        self.program.push(Item::Offset(add, label));
        self.push_scalar(ops::ADDC, [high, Operand::None], [high, Operand::Inline(128)]);
    }

    /// A call of a function behind the program.
    fn call(&mut self) {
        let op = if self.random.once_in(2) { Op::Sopk(Sopk::s_call_b64) } else { Op::Sop1(Sop1::s_swappc_b64) };
        self.call_by(op);
    }

    /// A call by s_call_b64, or where there is none by s_swappc_b64.
    pub fn call_by(&mut self, op: Op) {
        let (link, function) = (self.pair(24), self.label());
        if op == Op::Sopk(Sopk::s_call_b64) && self.target.supports(op) {
            let inst = scalar(op, [link, Operand::None], [Operand::Imm(0), Operand::None], self.target);
            self.program.push(Item::Jump(inst, function));
        } else {
            self.address_of(link, function);
            self.push_scalar(Op::Sop1(Sop1::s_swappc_b64), [link, Operand::None], [link, Operand::None]);
        }
        let main = std::mem::take(&mut self.program);
        self.program.push(Item::Label(function));
        self.body();
        self.push_scalar(ops::SETPC, [Operand::None; 2], [link, Operand::None]);
        let function = std::mem::replace(&mut self.program, main);
        self.functions.extend(function);
    }

    /// A jump forward to an address in registers.
    pub fn far_jump(&mut self, op: Op) {
        let (pair, over) = (self.pair(24), self.label());
        self.address_of(pair, over);
        let second = if op.info().srcs.len() > 1 { Operand::Inline(128) } else { Operand::None };
        self.push_scalar(op, [Operand::None; 2], [pair, second]);
        self.body();
        self.program.push(Item::Label(over));
    }

    /// A fork of the lanes and the place where they meet again.
    pub fn fork(&mut self, op: Op) {
        let (other, join, csp) = (self.label(), self.label(), self.pair(16));
        let depth = self.waves.first().map_or(0, |start| start.wave.mode.csp());
        self.push_scalar(ops::MOV32, [csp, Operand::None], [Operand::Inline(128 + depth as u8), Operand::None]);
        self.comparison();
        if op == Op::Sopk(Sopk::s_cbranch_i_fork) {
            let inst = scalar(op, [Operand::None; 2], [Operand::VCC, Operand::Imm(0)], self.target);
            self.program.push(Item::Jump(inst, other));
        } else {
            let pair = self.pair(24);
            self.address_of(pair, other);
            self.push_scalar(op, [Operand::None; 2], [Operand::VCC, pair]);
        }
        self.body();
        self.jump(ops::BRANCH, join);
        self.program.push(Item::Label(other));
        self.body();
        self.program.push(Item::Label(join));
        self.push_scalar(ops::JOIN, [Operand::None; 2], [csp, Operand::None]);
    }

    /// Something that has `op`, a row that ends a block, in it.
    pub fn control(&mut self, op: Op) {
        match op {
            Op::Sopk(Sopk::s_cbranch_i_fork) | Op::Sop2(Sop2::s_cbranch_g_fork) => self.fork(op),
            ops::JOIN => self.fork(Op::Sopk(Sopk::s_cbranch_i_fork)),
            ops::SETPC | Op::Sop1(Sop1::s_rfe_b64) | Op::Sop2(Sop2::s_rfe_restore_b64) => self.far_jump(op),
            Op::Sop1(Sop1::s_swappc_b64) | Op::Sopk(Sopk::s_call_b64) => self.call_by(op),
            Op::Sopp(_) if op.info().srcs.contains(&gcnjit_isa::Ty::label) => self.skip(op),
            Op::Sopp(Sopp::s_barrier) => self.push_scalar(op, [Operand::None; 2], [Operand::None; 2]),
            _ => self.ending(op),
        }
    }

    /// An instruction that ends or stops the wave, behind a branch that is taken or not.
    fn ending(&mut self, op: Op) {
        let over = self.label();
        if self.depth != 0 || !self.random.once_in(8) {
            let branch = self.random.pick(&[Sopp::s_cbranch_scc0, Sopp::s_cbranch_vccnz]);
            self.jump(Op::Sopp(branch), over);
        }
        self.push_ending(op);
        self.program.push(Item::Label(over));
    }

    /// An instruction that ends or stops the wave.
    pub fn push_ending(&mut self, op: Op) {
        let immediate = match op {
            _ if op.info().srcs.is_empty() => Operand::None,
            Op::Sopp(Sopp::s_sendmsghalt | Sopp::s_sethalt) => Operand::Imm(1),
            _ => Operand::Imm(0),
        };
        self.push_scalar(op, [Operand::None; 2], [immediate, Operand::None]);
    }
}
