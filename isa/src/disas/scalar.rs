//! SOP and SMEM text, and the fields of hardware registers, waits and messages.

use super::Text;
use crate::gfx::Gen;
use crate::op::Note;
use crate::operand::{Operand, Ty};
use crate::table::{Op, Sopk, Sopp};

/// Hardware registers by number.
const HWREGS: [&str; 8] = ["", "MODE", "STATUS", "TRAPSTS", "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS"];
/// Hardware registers from number 15, gfx9.
const HWREGS_15: [&str; 5] = ["SH_MEM_BASES", "TBA_LO", "TBA_HI", "TMA_LO", "TMA_HI"];
/// Messages from number 4; all but the first on gfx9 only.
const MESSAGES_4: [&str; 7] = [
    "MSG_SAVEWAVE",
    "MSG_STALL_WAVE_GEN",
    "MSG_HALT_WAVES",
    "MSG_ORDERED_PS_DONE",
    "MSG_EARLY_PRIM_DEALLOC",
    "MSG_GS_ALLOC_REQ",
    "MSG_GET_DOORBELL",
];
const GS_OPS: [&str; 4] = ["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];
const SYSMSG_OPS: [&str; 5] =
    ["", "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK", "SYSMSG_OP_TTRACE_PC"];

/// The number of a hardware register by its name without the prefix.
pub(crate) fn hwreg_id(name: &str) -> Option<i64> {
    let find = |names: &[&str], first: i64| names.iter().position(|known| *known == name).map(|at| at as i64 + first);
    find(&HWREGS, 0).or(find(&HWREGS_15, 15))
}

/// The number of a message or of its operation by name.
pub(crate) fn message_id(name: &str) -> Option<i64> {
    let find = |names: &[&str], first: i64| names.iter().position(|known| *known == name).map(|at| at as i64 + first);
    let simple = [("MSG_INTERRUPT", 1), ("MSG_GS", 2), ("MSG_GS_DONE", 3), ("MSG_SYSMSG", 15)];
    let simple = simple.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
    simple.or(find(&MESSAGES_4, 4)).or(find(&GS_OPS, 0)).or(find(&SYSMSG_OPS, 0))
}

impl Text<'_> {
    /// SOP2, SOP1, SOPC: everything but SCC and tied sources.
    pub(super) fn scalar(&mut self) {
        for (operand, ty) in self.inst.dst.into_iter().zip(self.info.dsts) {
            if *ty != Ty::scc {
                self.operand(operand, *ty);
            }
        }
        let tied = self.info.has(Note::Acc);
        for (i, (operand, ty)) in self.inst.src.into_iter().zip(self.info.srcs).enumerate() {
            match ty {
                Ty::scc => {}
                _ if tied && i == 1 => {}
                Ty::simm16 => self.gpr_idx(operand),
                _ => self.operand(operand, *ty),
            }
        }
    }

    pub(super) fn sopk(&mut self) {
        let (dst, src) = (self.inst.dst, self.inst.src);
        match self.inst.op {
            Op::Sopk(Sopk::s_setreg_b32 | Sopk::s_setreg_imm32_b32) => {
                self.hwreg(src[1]);
                return self.operand(src[0], Ty::b32);
            }
            Op::Sopk(Sopk::s_getreg_b32) => {
                self.operand(dst[0], Ty::b32);
                return self.hwreg(src[0]);
            }
            _ => {}
        }
        let register = if matches!(dst[0], Operand::Sgpr(_)) { dst[0] } else { src[0] };
        let pair = self.info.dsts.iter().chain(self.info.srcs).any(|ty| *ty == Ty::b64);
        self.operand(register, if pair { Ty::b64 } else { Ty::b32 });
        let immediate = src.into_iter().find_map(|operand| match operand {
            Operand::Imm(value) => Some(value as u16),
            _ => None,
        });
        let label = self.info.srcs.contains(&Ty::label);
        match immediate.unwrap_or_default() {
            offset if label => self.item(format_args!("{offset}")),
            value => self.item(format_args!("{value:#x}")),
        }
    }

    pub(super) fn sopp(&mut self) {
        let Operand::Imm(value) = self.inst.src[0] else { return };
        let value = value as u16;
        match self.inst.op {
            Op::Sopp(Sopp::s_endpgm) if value == 0 => {}
            Op::Sopp(Sopp::s_waitcnt) => self.waitcnt(value),
            Op::Sopp(Sopp::s_sendmsg | Sopp::s_sendmsghalt) => self.sendmsg(value),
            Op::Sopp(Sopp::s_set_gpr_idx_mode) => self.gpr_idx(Operand::Imm(i32::from(value))),
            _ if value <= 64 || self.info.srcs[0] == Ty::label || self.inst.op == Op::Sopp(Sopp::s_endpgm) => {
                self.item(format_args!("{value}"))
            }
            _ => self.item(format_args!("{value:#x}")),
        }
    }

    /// `gpr_idx(SRC0,DST)`: which operands M0 indexes.
    fn gpr_idx(&mut self, operand: Operand) {
        let Operand::Imm(value) = operand else { return };
        if value > 15 {
            return self.item(format_args!("{value:#x}"));
        }
        let names = ["SRC0", "SRC1", "SRC2", "DST"];
        let set: Vec<&str> = (0..4).filter(|bit| value >> bit & 1 != 0).map(|bit| names[bit]).collect();
        self.item(format_args!("gpr_idx({})", set.join(",")));
    }

    /// `hwreg(NAME)`, or `hwreg(NAME, offset, size)` when it is not the whole register.
    fn hwreg(&mut self, operand: Operand) {
        let Operand::Imm(value) = operand else { return };
        let value = value as u16;
        let (id, offset, size) = (usize::from(value & 63), value >> 6 & 31, (value >> 11) + 1);
        let name = match id {
            1..8 => HWREGS[id],
            15..20 if self.generation == Gen::Gfx9 => HWREGS_15[id - 15],
            _ => "",
        };
        self.word("hwreg(");
        match name {
            "" => self.put(format_args!("{id}")),
            name => self.put(format_args!("HW_REG_{name}")),
        }
        if (offset, size) != (0, 32) {
            self.put(format_args!(", {offset}, {size}"));
        }
        self.out.push(')');
    }

    /// The counters that are waited for; all of them when none is.
    fn waitcnt(&mut self, value: u16) {
        let gfx9 = self.generation == Gen::Gfx9;
        let (vm_high, vm_max) = if gfx9 { (value >> 14 << 4, 63) } else { (0, 15) };
        let counters =
            [("vmcnt", value & 15 | vm_high, vm_max), ("expcnt", value >> 4 & 7, 7), ("lgkmcnt", value >> 8 & 15, 15)];
        let none = counters.iter().all(|(_, count, max)| count == max);
        for (name, count, max) in counters {
            if none || count != max {
                self.put(format_args!(" {name}({count})"));
            }
        }
    }

    /// `sendmsg(MESSAGE, OPERATION, STREAM)` where the fields have names, else numbers.
    fn sendmsg(&mut self, value: u16) {
        let (id, op, stream) = (value & 15, usize::from(value >> 4 & 7), value >> 8 & 3);
        let gfx9 = self.generation == Gen::Gfx9;
        let message = match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_GS",
            3 => "MSG_GS_DONE",
            4 if self.generation == Gen::Gfx8 => MESSAGES_4[0],
            4..11 if gfx9 => MESSAGES_4[usize::from(id) - 4],
            15 => "MSG_SYSMSG",
            _ => "",
        };
        let operation = match (id, op) {
            (2, 1..4) | (3, 0..4) => Some(GS_OPS[op]),
            (15, 3) if gfx9 => None,
            (15, 1..5) => Some(SYSMSG_OPS[op]),
            (2 | 15, _) => None,
            (_, 0) => Some(""),
            _ => None,
        };
        let gs = matches!(id, 2 | 3) && op != 0;
        match operation {
            Some(operation) if !message.is_empty() && (stream == 0 || gs) => {
                self.item(format_args!("sendmsg({message}"));
                if !operation.is_empty() {
                    self.put(format_args!(", {operation}"));
                }
                if gs {
                    self.put(format_args!(", {stream}"));
                }
                self.out.push(')');
            }
            _ if value & !0x37f == 0 => self.item(format_args!("sendmsg({id}, {op}, {stream})")),
            _ => self.item(format_args!("{value}")),
        }
    }

    pub(super) fn smem(&mut self) {
        let (dst, src, mem) = (self.inst.dst, self.inst.src, self.inst.mem());
        let srcs = self.info.srcs;
        match srcs.get(2) {
            Some(Ty::simm16) => match src[2] {
                Operand::Imm(value @ 65..) => self.item(format_args!("{value:#x}")),
                value => self.operand(value, Ty::simm16),
            },
            Some(ty) => self.operand(src[2], *ty),
            None => {
                if let Some(ty) = self.info.dsts.first() {
                    self.operand(dst[0], *ty);
                }
            }
        }
        let Some(base) = srcs.first() else { return };
        self.operand(src[0], *base);
        let old = self.generation < Gen::Gfx8;
        let offset = if old { i64::from(mem.offset as u32 >> 2) } else { i64::from(mem.offset) };
        let (sign, offset) = (if offset < 0 { "-" } else { "" }, offset.unsigned_abs());
        if src[1] != Operand::None {
            self.operand(src[1], Ty::u32);
            if mem.imm {
                self.put(format_args!(" offset:{sign}{offset:#x}"));
            }
        } else {
            self.item(format_args!("{sign}{offset:#x}"));
        }
        self.flag(mem.glc, "glc");
    }
}
