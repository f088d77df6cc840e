//! DS, MUBUF, MTBUF, FLAT, MIMG and EXP text.

use super::Text;
use crate::gfx::Gen;
use crate::inst::Format;
use crate::op::Note;
use crate::operand::{Operand, Ty};
use crate::table::{Ds, Mubuf, Op};

/// MTBUF data formats.
const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
/// MTBUF number formats; number 6 is a reserved one from gfx8 on.
const NUMBER_FORMATS: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "SNORM_OGL", "FLOAT"];

/// The number of a data format by its name without the prefix.
pub(crate) fn data_format(name: &str) -> Option<u8> {
    DATA_FORMATS.iter().position(|known| *known == name).map(|at| at as u8)
}

/// The number of a number format by its name without the prefix.
pub(crate) fn number_format(name: &str) -> Option<u8> {
    let name = if name == "RESERVED_6" { NUMBER_FORMATS[6] } else { name };
    NUMBER_FORMATS.iter().position(|known| *known == name).map(|at| at as u8)
}

impl Text<'_> {
    /// ` offset:n` unless it is 0.
    fn offset(&mut self) {
        let offset = self.inst.mem().offset;
        if offset != 0 {
            self.put(format_args!(" offset:{offset}"));
        }
    }

    pub(super) fn ds(&mut self) {
        let (inst, mem) = (self.inst, self.inst.mem());
        if let Some(ty) = self.info.dsts.first() {
            self.operand(inst.dst[0], *ty);
        }
        let tied = self.info.has(Note::Acc);
        for (i, (operand, ty)) in inst.src.into_iter().zip(self.info.srcs).enumerate() {
            if operand != Operand::None && !(tied && i == 1) {
                self.operand(operand, *ty);
            }
        }
        if inst.op == Op::Ds(Ds::ds_swizzle_b32) {
            self.swizzle(mem.offset as u32);
        } else if self.info.notes.iter().any(|note| matches!(note, Note::Offsets(_))) {
            for (name, offset) in [("offset0", mem.offset), ("offset1", i32::from(mem.offset1))] {
                if offset != 0 {
                    self.put(format_args!(" {name}:{offset}"));
                }
            }
        } else {
            self.offset();
        }
        self.flag(mem.gds || self.info.has(Note::Gds), "gds");
    }

    /// The pattern of a swizzle, by the simplest name it has.
    fn swizzle(&mut self, offset: u32) {
        if offset == 0 {
            return;
        }
        self.out.push_str(" offset:");
        if offset & 0xff00 == 0x8000 {
            let lane = |i: u32| offset >> (2 * i) & 3;
            return self.put(format_args!("swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3)));
        }
        if offset & 0x8000 != 0 {
            return self.put(format_args!("{offset}"));
        }
        let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
        let group = 32 - and;
        if and == 31 && or == 0 && xor.is_power_of_two() {
            self.put(format_args!("swizzle(SWAP,{xor})"));
        } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
            self.put(format_args!("swizzle(REVERSE,{})", xor + 1));
        } else if xor == 0 && group > 1 && group.is_power_of_two() && or < group {
            self.put(format_args!("swizzle(BROADCAST,{group},{or})"));
        } else {
            self.out.push_str("swizzle(BITMASK_PERM,\"");
            for bit in (0..5).rev() {
                let f = |x: u32| ((x & and >> bit | or >> bit) ^ xor >> bit) & 1;
                self.out.push(match (f(0), f(1)) {
                    (0, 0) => '0',
                    (0, _) => 'p',
                    (_, 0) => 'i',
                    _ => '1',
                });
            }
            self.out.push_str("\")");
        }
    }

    /// MUBUF and MTBUF.
    pub(super) fn buffer(&mut self) {
        let (inst, mem) = (self.inst, self.inst.mem());
        let Some(address) = self.info.srcs.first() else { return };
        debug_assert_eq!(*address, Ty::data);
        let from_lds = inst.op == Op::Mubuf(Mubuf::buffer_store_lds_dword);
        if !from_lds && !mem.lds {
            let data = if inst.src[3] == Operand::None { inst.dst[0] } else { inst.src[3] };
            self.registers(data, inst.data_dwords(self.target));
        }
        if !from_lds {
            match inst.src[0] {
                Operand::None => self.word("off"),
                vaddr => self.registers(vaddr, if mem.addr64 || mem.idxen && mem.offen { 2 } else { 1 }),
            }
        }
        self.operand(inst.src[1], Ty::b128);
        self.operand(inst.src[2], Ty::u32);
        if inst.format == Format::Mtbuf {
            self.format();
        }
        if !from_lds {
            self.flag(mem.idxen, "idxen");
            self.flag(mem.offen, "offen");
            self.flag(mem.addr64, "addr64");
        }
        self.offset();
        self.flag(from_lds, "lds");
        self.flag(mem.glc, "glc");
        self.flag(mem.slc, "slc");
        self.flag(mem.tfe && !mem.lds && !from_lds, "tfe");
        self.flag(mem.lds && !from_lds, "lds");
    }

    /// MTBUF's formats; 8 and UNORM are not printed.
    fn format(&mut self) {
        let mem = self.inst.mem();
        let number = match mem.nfmt & 7 {
            6 if self.generation >= Gen::Gfx8 => "RESERVED_6",
            n => NUMBER_FORMATS[usize::from(n)],
        };
        let data = DATA_FORMATS[usize::from(mem.dfmt & 15)];
        match (mem.dfmt, mem.nfmt) {
            (1, 0) => {}
            (_, 0) => self.put(format_args!(" format:[BUF_DATA_FORMAT_{data}]")),
            (1, _) => self.put(format_args!(" format:[BUF_NUM_FORMAT_{number}]")),
            _ => self.put(format_args!(" format:[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}]")),
        }
    }

    pub(super) fn flat(&mut self) {
        let (inst, mem) = (self.inst, self.inst.mem());
        if let Some(ty) = self.info.dsts.first()
            && inst.dst[0] != Operand::None
            && !mem.lds
        {
            self.registers(inst.dst[0], u32::from(ty.dwords()) + u32::from(mem.tfe));
        }
        let scalar = inst.src[2] != Operand::None;
        match inst.src[0] {
            Operand::None => self.word("off"),
            address => self.registers(address, if mem.seg == 1 || scalar { 1 } else { 2 }),
        }
        if let Some(ty) = self.info.srcs.get(1)
            && !self.info.has(Note::Acc)
        {
            self.operand(inst.src[1], *ty);
        }
        match (mem.seg, inst.src[2]) {
            (0, _) => {}
            (_, Operand::None) => self.word("off"),
            (1, saddr) => self.operand(saddr, Ty::u32),
            (_, saddr) => self.operand(saddr, Ty::b64),
        }
        self.offset();
        self.flag(mem.glc, "glc");
        self.flag(mem.slc, "slc");
        self.flag(mem.tfe, "tfe");
        self.flag(mem.lds, "lds");
    }

    pub(super) fn mimg(&mut self) {
        let (inst, mem) = (self.inst, self.inst.mem());
        let data = if inst.src[3] == Operand::None { inst.dst[0] } else { inst.src[3] };
        self.registers(data, inst.data_dwords(self.target));
        self.registers(inst.src[0], inst.image_address_dwords());
        self.registers(inst.src[1], 8);
        if inst.src[2] != Operand::None {
            self.registers(inst.src[2], 4);
        }
        if mem.dmask != 0 {
            self.put(format_args!(" dmask:{:#x}", mem.dmask));
        }
        let on = |bit: u8| mem.flags >> bit & 1 != 0;
        self.flag(on(0), "unorm");
        self.flag(mem.glc, "glc");
        self.flag(mem.slc, "slc");
        self.flag(on(2), if self.generation == Gen::Gfx9 { "a16" } else { "r128" });
        self.flag(mem.tfe, "tfe");
        self.flag(on(3), "lwe");
        self.flag(on(1), "da");
        self.flag(on(4), "d16");
    }

    pub(super) fn exp(&mut self) {
        let (inst, mem) = (self.inst, self.inst.mem());
        match mem.target {
            n @ 0..8 => self.put(format_args!(" mrt{n}")),
            8 => self.out.push_str(" mrtz"),
            9 => self.out.push_str(" null"),
            n @ 12..16 => self.put(format_args!(" pos{}", n - 12)),
            n @ 32.. => self.put(format_args!(" param{}", n - 32)),
            n => self.put(format_args!(" invalid_target_{n}")),
        }
        let compressed = mem.flags & 1 != 0;
        for i in 0..4 {
            let from = if compressed { i / 2 } else { i };
            match mem.dmask >> i & 1 {
                0 => self.word("off"),
                _ => self.operand(inst.src[from], Ty::b32),
            }
        }
        self.flag(mem.flags & 2 != 0, "done");
        self.flag(compressed, "compr");
        self.flag(mem.flags & 4 != 0, "vm");
    }
}
