//! A wave with memory and LDS around it, instructions without an encoding, and numbers to try.
#![allow(dead_code, reason = "each test binary uses a part")]

use gcnjit_interp::fp::Fp;
use gcnjit_interp::run::{Buffers, Machine};
use gcnjit_isa::{Ext, Format, Gen, Inst, Mods, Op, Operand, Target};
use gcnjit_rt::gds::Gds;
use gcnjit_rt::lds::Lds;
use gcnjit_rt::order::Order;
use gcnjit_rt::{Env, Memory, Mode, Trap, View, Wave};
use std::sync::atomic::AtomicBool;

/// MODE as compilers set it: nearest-even, f32 denormals flushed, f64 and f16 denormals kept, DX10 clamp, IEEE.
pub const COMPILER_MODE: Mode = Mode(0x3c0);
/// Nearest-even, all denormals kept, IEEE off.
pub const PLAIN_MODE: Mode = Mode(0x0f0);

/// The rules under `mode` on gfx9.
pub fn fp(mode: Mode) -> Fp {
    Fp::new(mode, Gen::Gfx9)
}

/// What a machine needs, to be changed before instructions run.
pub struct World {
    pub target: Target,
    pub memory: Memory,
    pub lds: Lds,
    pub scratch: u64,
    pub wave: Box<Wave>,
}

impl World {
    pub fn new(target: Target) -> World {
        let mut wave = Wave::new();
        wave.set_exec(!0);
        wave.mode = COMPILER_MODE;
        World { target, memory: Memory::new().expect("an arena"), lds: Lds::new(1024), scratch: 0, wave }
    }

    /// Executes one instruction.
    pub fn step(&mut self, inst: &Inst) -> Result<(), Box<Trap>> {
        let view = self.memory.view();
        let (gds, stop) = (Gds::new(), AtomicBool::new(false));
        let env = env(self.target, &view, self.scratch, &self.lds, &gds, &stop, u64::MAX);
        Machine::new(&mut self.wave, &env, &mut Buffers::default()).step(inst)
    }

    /// Executes one instruction that must succeed.
    pub fn run(&mut self, inst: &Inst) {
        self.step(inst).unwrap_or_else(|trap| panic!("{inst:?}: {trap}"));
    }

    /// Sets a vector register, lane by lane.
    pub fn set(&mut self, register: usize, f: impl FnMut(usize) -> u32) {
        self.wave.vgpr[register] = std::array::from_fn(f);
    }

    /// Allocates memory that holds `data`.
    pub fn memory_with(&self, data: &[u32]) -> u64 {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        let address = self.memory.alloc(bytes.len() as u64).expect("memory");
        self.memory.write(address, &bytes).expect("memory that was just allocated");
        address
    }

    /// `count` dwords of memory.
    pub fn dwords(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; count * 4];
        self.memory.read(address, &mut bytes).expect("allocated memory");
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

/// An environment of these parts.
pub fn env<'a>(
    target: Target,
    memory: &'a View,
    scratch: u64,
    lds: &'a Lds,
    gds: &'a Gds,
    stop: &'a AtomicBool,
    slice: u64,
) -> Env<'a> {
    static ORDER: Order = Order::new();
    Env { scratch, exceptions: true, slice, ..Env::bare(target, memory, lds, (gds, &ORDER, stop)) }
}

/// An instruction with these operands and nothing else.
pub fn inst<const D: usize, const S: usize>(op: Op, dst: [Operand; D], src: [Operand; S]) -> Inst {
    let mut inst = Inst {
        op,
        format: Format::Vop3a,
        words: 2,
        dst: [Operand::None; 2],
        src: [Operand::None; 4],
        mods: Mods::default(),
        ext: Ext::None,
    };
    inst.dst[..D].copy_from_slice(&dst);
    inst.src[..S].copy_from_slice(&src);
    inst
}

/// A vector register.
pub fn v(index: u8) -> Operand {
    Operand::Vgpr(index)
}

/// A scalar register.
pub fn s(index: u8) -> Operand {
    Operand::Sgpr(index)
}

/// Numbers that look random, the same every time (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Bits of a float of `size` bits with `mantissa` stored significand bits: often special, often near another's
    /// exponent.
    pub fn float(&mut self, size: u32, mantissa: u32) -> u64 {
        let exponents = 1_u64 << (size - 1 - mantissa);
        let exponent = match self.below(4) {
            0 => [0, 0, 1, 2, exponents - 2, exponents - 1][self.below(6) as usize],
            1 => exponents / 2 + self.below(8) - 4,
            _ => self.below(exponents),
        };
        let significand = match self.below(3) {
            0 => [0, 1, (1 << mantissa) - 1, 1 << (mantissa - 1)][self.below(4) as usize],
            _ => self.next() & ((1 << mantissa) - 1),
        };
        self.below(2) << (size - 1) | exponent << mantissa | significand
    }

    pub fn f32(&mut self) -> f32 {
        f32::from_bits(self.float(32, 23) as u32)
    }

    pub fn f64(&mut self) -> f64 {
        f64::from_bits(self.float(64, 52))
    }
}
