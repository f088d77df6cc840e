//! Kernels: programs in the shape that compilers give them.
//!
//! The work-item's number is computed from its coordinates and compared with a limit. Behind that guard are loads,
//! arithmetic and stores, at addresses that count from lane to lane, or nearly; now and then loops, LDS, barriers.
//!
//! Registers: s0 to s13 are the arguments, pointers to the memories a, b and c, two limits and data; s[14:15] point to the
//! same in the kernarg segment, and s16 to s18 are the work-group's coordinates. s32 to s47 and v0 to v14 are data that
//! any instruction may read or write. s48 to s99 and v24 to v39 are for numbers, saved masks and addresses; what is
//! between belongs to control flow ([`super::flow`]).

mod access;
mod number;

use super::{Generator, Rows, random_mode};
use crate::case::{Case, Grid, Pointer, Register, Space, Start};
use crate::program::{Item, Label};
use crate::random::Random;
use access::POINTERS;
use gcnjit_isa::{Gen, Inst, Op, Operand, Sop1, Sopp, Target, asm};
use gcnjit_rt::{Mode, Wave};

/// Rows between what makes a program a kernel: other memory instructions are made of text.
pub const FAMILIES: [&str; 9] = ["vop1", "vop2", "vopc", "vop3", "vop3p", "sop1", "sop2", "sopc", "sopk"];

/// Most guards inside each other.
const GUARDS: u32 = 3;
/// The first SGPR for data, and how many there are.
const DATA: (u8, u8) = (32, 16);
/// The VGPR with the work-item's number.
const NUMBER: u8 = 24;
/// The VGPR that counts turns of a loop.
const TURNS: u8 = 39;

/// A kernel in the making.
struct Kernel<'a> {
    generator: Generator<'a>,
    /// The largest launch: what the code is for.
    grid: Grid,
    /// SGPRs that have something in them.
    scalars: Vec<u8>,
    /// A place in the memory a that a guard's limit is loaded from, and the limit.
    limits: Vec<(usize, u32)>,
    /// Whether nothing is in it that compilers don't make of the simplest kernels.
    plain: bool,
    /// Whether all that it moves are elements of an array that has one for each work-item, if there is room for that: what
    /// waves that are run together do.
    even: bool,
}

impl<'a> Generator<'a> {
    /// A kernel, with instructions of the rows between what makes it one.
    pub fn kernel(random: &'a mut Random, rows: &'a Rows) -> Case {
        let grid = grid(random);
        let start = start(random, items(&grid));
        let launches = launches(random, grid);
        let (plain, even) = (!random.once_in(3), random.once_in(3));
        let generator = Generator { rows: Some(rows), launches, ..Generator::of(random, rows.target, vec![start]) };
        let mut kernel = Kernel { generator, grid, limits: Vec::new(), scalars: (8..14).collect(), plain, even };
        kernel.whole();
        let Kernel { generator, limits, .. } = kernel;
        let mut case = generator.finish();
        for (offset, limit) in limits {
            case.contents.of_mut(Space::A)[offset..offset + 4].copy_from_slice(&limit.to_le_bytes());
        }
        case
    }

    /// An instruction on a kernel's data, which is elsewhere: its first SGPRs are arguments. `None` if it is on anything
    /// else.
    pub(super) fn on_data_of_kernels(&self, mut inst: Inst) -> Option<Inst> {
        let (first, count) = DATA;
        for operand in inst.dst.iter_mut().chain(&mut inst.src) {
            match *operand {
                Operand::Sgpr(register) if register < count => *operand = Operand::Sgpr(first + register),
                Operand::Sgpr(register) if register < 102 => return None,
                Operand::Vgpr(register) if register > 14 => return None,
                _ => {}
            }
        }
        crate::program::canonical(inst, self.target)
    }
}

/// Work-items of a grid that is whole.
fn items(grid: &Grid) -> u32 {
    grid.items.iter().product()
}

/// Up to six work-groups of up to four waves, now and then up to thirty: rows, or images, or volumes.
fn grid(random: &mut Random) -> Grid {
    const ROWS: [u32; 14] = [64, 64, 64, 128, 256, 192, 24, 40, 63, 65, 96, 100, 32, 7];
    const IMAGES: [[u32; 2]; 9] = [[16, 4], [32, 2], [8, 8], [64, 2], [16, 16], [32, 4], [5, 8], [20, 3], [24, 1]];
    const VOLUMES: [[u32; 3]; 4] = [[4, 4, 4], [8, 4, 2], [4, 2, 3], [16, 4, 2]];
    let mut up_to = |most: u64| 1 + random.below(most) as u32;
    let (group, groups) = match up_to(8) {
        1..=4 => ([random.pick(&ROWS), 1, 1], [3 + random.below(4) as u32, 1, 1]),
        5 => ([random.pick(&ROWS), 1, 1], [3 + random.below(28) as u32, 1, 1]),
        6 | 7 => {
            let groups = [up_to(3), up_to(2), 1];
            let [x, y] = random.pick(&IMAGES);
            ([x, y, 1], groups)
        }
        _ => {
            let groups = [up_to(2), up_to(2), up_to(2)];
            (random.pick(&VOLUMES), groups)
        }
    };
    Grid { items: std::array::from_fn(|d| groups[d] * group[d]), group }
}

/// A launch of that size, or nearly, and now and then another one of smaller work-groups before it or behind.
fn launches(random: &mut Random, grid: Grid) -> Vec<Grid> {
    let mut nearly = grid;
    if random.once_in(3) {
        nearly.items[0] -= random.below(u64::from(grid.group[0])) as u32;
    }
    let mut launches = vec![nearly];
    if random.once_in(3) {
        let mut other = nearly;
        other.group[0] = grid.group[0].min(random.pick(&[24, 40, 16, 64, 256]));
        other.items[0] = nearly.items[0].div_ceil(grid.group[0]) * other.group[0];
        launches.insert(random.below(2) as usize, other);
    }
    launches
}

/// The arguments, and MODE as compilers ask for it, or any.
fn start(random: &mut Random, items: u32) -> Start {
    let mut wave = Wave::new();
    wave.set_exec(u64::MAX);
    wave.sgpr[6] = limit(random, items);
    wave.sgpr[7] = limit(random, items);
    wave.sgpr[8..14].iter_mut().for_each(|sgpr| *sgpr = random.dword());
    let any = random_mode(random).0 & 0x3ff;
    wave.mode = Mode(if random.once_in(3) { any } else { 0x3c0 });
    let pointer = |(register, to)| Pointer { at: Register::Sgpr(register), lanes: 0, to };
    Start { wave, pointers: POINTERS.into_iter().map(pointer).collect() }
}

/// What numbers are compared with: mostly more than all, sometimes some, or none.
fn limit(random: &mut Random, items: u32) -> u32 {
    match random.below(8) {
        0 => random.pick(&[0, 1, 16, 63, 64, 65, 128, 0x8000_0000]),
        1 | 2 => random.below(u64::from(items) + 1) as u32,
        3 => items.saturating_sub(random.below(70) as u32),
        _ => items,
    }
}

impl Kernel<'_> {
    fn random(&mut self) -> &mut Random {
        self.generator.random
    }

    fn generation(&self) -> Gen {
        self.generator.target.generation()
    }

    /// Appends an instruction.
    fn emit(&mut self, text: &str) {
        let target: Target = self.generator.target;
        let inst = asm::parse(text, target).unwrap_or_else(|error| panic!("{target}, {text}: {error}"));
        self.generator.program.push(Item::Inst(inst));
    }

    fn branch(&mut self, op: Sopp, to: Label) {
        self.generator.jump(Op::Sopp(op), to);
    }

    fn place(&mut self, label: Label) {
        self.generator.program.push(Item::Label(label));
    }

    /// Any VGPR with data that has `more` behind it.
    fn data(&mut self, more: u64) -> u64 {
        self.random().below(10 - more)
    }

    fn whole(&mut self) {
        self.move_base();
        if self.random().once_in(3) {
            self.load_arguments();
        }
        self.arithmetic();
        self.number();
        self.guarded(0);
        let rarely = if self.plain { 24 } else { 4 };
        if self.random().once_in(rarely) {
            self.statements();
        }
    }

    /// Statements behind a guard, or two.
    fn guarded(&mut self, depth: u32) {
        let over = self.generator.label();
        let save = format!("s[{}:{}]", 50 + 2 * depth, 51 + 2 * depth);
        let guards = !self.random().once_in(8);
        if guards {
            let vcc = self.comparison();
            self.emit(&format!("s_and_saveexec_b64 {save}, {vcc}"));
            if !self.random().once_in(10) {
                self.branch(Sopp::s_cbranch_execz, over);
            }
        }
        if self.random().once_in(4) {
            self.load_arguments();
        }
        self.statements();
        if depth + 1 < GUARDS && self.random().once_in(4) {
            self.guarded(depth + 1);
        }
        if guards && self.random().once_in(12) {
            self.emit("s_endpgm");
        }
        self.place(over);
        let rarely = if self.plain { 16 } else { 4 };
        if guards && self.random().once_in(rarely) {
            self.otherwise(&save);
        }
    }

    /// Statements for the other lanes, or for all of them again.
    fn otherwise(&mut self, save: &str) {
        let end = self.generator.label();
        if self.random().once_in(2) {
            self.emit(&format!("s_xor_b64 exec, exec, {save}"));
            self.branch(Sopp::s_cbranch_execz, end);
        } else {
            self.emit(&format!("s_or_b64 exec, exec, {save}"));
        }
        self.statements();
        self.place(end);
        self.emit(&format!("s_or_b64 exec, exec, {save}"));
    }

    /// Compares the number with a limit, and returns where the mask is.
    fn comparison(&mut self) -> &'static str {
        let items = items(&self.grid);
        let limit = match self.random().below(4) {
            0 => "s6",
            1 => {
                let value = limit(self.random(), items);
                // What is far behind is stored to by later waves.
                let most = if self.even { 250 } else { 64 };
                let offset = 4 * self.random().below(most);
                self.limits.push((offset as usize, value));
                self.scalar_load(1, "s48", "s[0:1]", offset);
                "s48"
            }
            _ => {
                let offset = 4 * (6 + self.random().below(2));
                self.scalar_load(1, "s48", "s[14:15]", offset);
                "s48"
            }
        };
        if limit != "s6" && self.random().once_in(2) {
            self.emit("s_waitcnt lgkmcnt(0)");
        }
        match self.random().below(12) {
            0 => self.emit(&format!("v_cmp_lt_u32_e32 vcc, {limit}, v{NUMBER}")),
            1 => self.emit(&format!("v_cmp_ne_u32_e32 vcc, {limit}, v{NUMBER}")),
            2..=4 => self.emit(&format!("v_cmp_gt_i32_e32 vcc, {limit}, v{NUMBER}")),
            5 | 6 => {
                self.emit(&format!("v_cmp_lt_u32_e64 s[56:57], v{NUMBER}, {limit}"));
                return "s[56:57]";
            }
            _ => self.emit(&format!("v_cmp_gt_u32_e32 vcc, {limit}, v{NUMBER}")),
        }
        "vcc"
    }

    /// Loads, arithmetic and stores.
    fn statements(&mut self) {
        let (most, rarely) = if self.plain { (4, 8) } else { (3, 3) };
        for _ in 0..1 + self.random().below(most) / 3 * 2 {
            if self.random().once_in(5) {
                self.load_arguments();
            }
            for _ in 0..self.random().below(3) {
                self.load();
                self.arithmetic();
            }
            self.arithmetic();
            if !self.plain && self.random().once_in(3) {
                self.construct();
            }
            if !self.plain && self.random().once_in(3) {
                self.stream();
            }
            if !self.random().once_in(rarely) {
                self.store();
            }
        }
    }

    /// A few operations on data.
    fn arithmetic(&mut self) {
        const OPERATIONS: [&str; 19] = [
            "v_xor_b32_e32 vD, vA, vB",
            "v_mul_lo_u32 vD, vA, vB",
            "v_mul_lo_u32 vD, vA, sS",
            "v_mul_hi_u32 vD, vA, vB",
            "v_mul_f32_e32 vD, vA, vB",
            "v_mac_f32_e32 vD, vA, vB",
            "v_fma_f32 vD, vA, vB, vC",
            "v_max_i32_e32 vD, vA, vB",
            "v_min_u32_e32 vD, sS, vB",
            "v_lshlrev_b32_e32 vD, 3, vA",
            "v_ashrrev_i32_e32 vD, 5, vA",
            "v_bfe_u32 vD, vA, 4, 8",
            "v_mad_u32_u24 vD, vA, vB, vC",
            "v_cvt_f32_u32_e32 vD, vA",
            "v_cvt_u32_f32_e32 vD, vA",
            "v_cmp_lt_f32_e32 vcc, vA, vB",
            "v_cmp_gt_i32_e32 vcc, sS, vA",
            "v_and_b32_e32 vD, sS, vA",
            "v_alignbit_b32 vD, vA, vB, 7",
        ];
        for _ in 0..self.random().below(4) {
            match self.random().below(20) {
                0 => {
                    let [d, a, b] = [(); 3].map(|()| self.data(1));
                    self.emit(&format!("v_add_f64 v[{d}:{}], v[{a}:{}], v[{b}:{}]", d + 1, a + 1, b + 1));
                }
                1 => {
                    let [d, a, b] = [(); 3].map(|()| self.data(1) as u8);
                    self.add_with_carry(d, &format!("v{a}"), b);
                    self.add_carry(d + 1, &format!("v{}", a + 1), b + 1);
                }
                2 => {
                    let [d, a, b] = [(); 3].map(|()| self.data(0) as u8);
                    self.add(d, &format!("v{a}"), b);
                }
                3 => {
                    let [d, a, b] = [(); 3].map(|()| self.data(0));
                    self.emit(&format!("v_cmp_lt_u32_e32 vcc, v{a}, v{b}"));
                    self.emit(&format!("v_cndmask_b32_e32 v{d}, v{a}, v{b}, vcc"));
                }
                4 => {
                    let rarely = if self.plain { 8 } else { 1 };
                    if self.random().once_in(rarely) {
                        self.any_row();
                    }
                }
                5 if self.generation() >= Gen::Gfx8 => self.move_between_lanes(),
                _ => {
                    let mut text = self.random().pick(&OPERATIONS).to_owned();
                    for name in ["D", "A", "B", "C"] {
                        let data = self.data(0);
                        text = text.replace(&format!("v{name}"), &format!("v{data}"));
                    }
                    let scalar = self.generator.random.pick(&self.scalars);
                    self.emit(&text.replace("sS", &format!("s{scalar}")));
                }
            }
        }
    }

    /// What other lanes of a row hold, some of which may not be active.
    fn move_between_lanes(&mut self) {
        let moves = ["quad_perm:[1,0,3,2]", "quad_perm:[2,2,0,3]", "row_shr:1", "row_shl:3", "row_ror:5", "row_mirror"];
        let (to, from, other) = (self.data(0), self.data(0), self.data(0));
        let how = self.random().pick(&moves);
        let bound = self.random().pick(&["", " bound_ctrl:1"]);
        let masks = format!("{how} row_mask:0xf bank_mask:0xf{bound}");
        match self.random().below(3) {
            0 => self.emit(&format!("v_mov_b32_dpp v{to}, v{from} {masks}")),
            1 => self.emit(&format!("v_xor_b32_dpp v{to}, v{from}, v{other} {masks}")),
            _ => self.emit(&format!("v_add_f32_dpp v{to}, v{from}, v{other} {masks}")),
        }
    }

    /// An instruction of the rows.
    fn any_row(&mut self) {
        let Some(rows) = self.generator.rows else { return };
        let (op, encoding) = rows.draw(self.generator.random);
        if super::is_control(op) {
            return;
        }
        if let Some(inst) = self.generator.instruction(op, encoding, None) {
            self.generator.push_statement(inst);
        }
    }

    /// What compilers make of more than the simplest kernels, or any statements.
    fn construct(&mut self) {
        match self.random().below(10) {
            0 => self.generator.body(),
            1 => self.counted_loop(),
            2..=4 => self.divergent_loop(),
            5 => self.through_lds(),
            6 => self.emit("s_barrier"),
            7 | 8 => self.indexed(),
            _ => self.any_row(),
        }
    }

    /// Arithmetic between reads of VGPRs by an index that is small, and now and then a write.
    fn indexed(&mut self) {
        for _ in 0..1 + self.random().below(3) {
            let (most, [to, from]) = (self.random().pick(&[1, 3, 7, 200]), [(); 2].map(|()| self.data(0)));
            let (of, store) = (self.generator.random.pick(&self.scalars), self.random().once_in(5));
            match self.generation() {
                Gen::Gfx6 | Gen::Gfx7 => {
                    self.emit(&format!("s_and_b32 m0, s{of}, {most:#x}"));
                    let name = if store { "v_movreld_b32_e32" } else { "v_movrels_b32_e32" };
                    self.emit(&format!("{name} v{to}, v{from}"));
                }
                _ => {
                    self.emit(&format!("s_and_b32 s59, s{of}, {most:#x}"));
                    self.emit(&format!("s_set_gpr_idx_on s59, {}", if store { 8 } else { 1 }));
                    self.emit(&format!("v_mov_b32_e32 v{to}, v{from}"));
                    self.emit("s_set_gpr_idx_off");
                }
            }
            self.arithmetic();
        }
    }

    /// A few turns, each further on in memory.
    fn counted_loop(&mut self) {
        let turns = 2 + self.random().below(3) as u32;
        self.repeat(turns, |kernel| {
            kernel.load();
            kernel.arithmetic();
            let step = kernel.random().pick(&["1", "16", "-1", "s16"]);
            kernel.add(NUMBER, step, NUMBER);
        });
    }

    /// So many turns of a loop.
    fn repeat(&mut self, turns: u32, body: impl FnOnce(&mut Self)) {
        self.emit(&format!("s_movk_i32 s58, {turns}"));
        let again = self.generator.label();
        self.place(again);
        body(self);
        self.emit("s_sub_u32 s58, s58, 1");
        self.emit("s_cmp_lg_u32 s58, 0");
        self.branch(Sopp::s_cbranch_scc1, again);
    }

    /// As many turns as a lane's number says, so that in the end few lanes are left.
    fn divergent_loop(&mut self) {
        let most = self.random().pick(&[3, 15, 31, 63]);
        let of = self.random().pick(&[0, NUMBER]);
        self.emit(&format!("v_and_b32_e32 v{TURNS}, {most}, v{of}"));
        if self.random().once_in(3) {
            self.emit(&format!("v_lshlrev_b32_e32 v{TURNS}, 3, v{TURNS}"));
        }
        self.generator.push_scalar(
            Op::Sop1(Sop1::s_mov_b64),
            [Operand::Sgpr(60), Operand::None],
            [Operand::EXEC, Operand::None],
        );
        let again = self.generator.label();
        self.place(again);
        self.arithmetic();
        match self.random().below(4) {
            0 | 1 => self.load(),
            2 => self.either(),
            _ => {}
        }
        self.add(TURNS, "-1", TURNS);
        self.emit(&format!("v_cmp_lt_i32_e32 vcc, 0, v{TURNS}"));
        self.emit("s_and_b64 exec, exec, vcc");
        self.branch(Sopp::s_cbranch_execnz, again);
        self.emit("s_mov_b64 exec, s[60:61]");
        if self.random().once_in(2) {
            self.store();
        }
    }

    /// Some arithmetic in some lanes, and other in the others.
    fn either(&mut self) {
        let [a, b] = [(); 2].map(|()| self.data(0));
        let [other, end] = [(); 2].map(|()| self.generator.label());
        self.emit(&format!("v_cmp_lt_i32_e32 vcc, v{a}, v{b}"));
        self.emit("s_and_saveexec_b64 s[82:83], vcc");
        self.branch(Sopp::s_cbranch_execz, other);
        self.arithmetic();
        self.place(other);
        self.emit("s_andn2_saveexec_b64 s[82:83], s[82:83]");
        self.branch(Sopp::s_cbranch_execz, end);
        self.arithmetic();
        self.place(end);
        self.emit("s_or_b64 exec, exec, s[82:83]");
    }

    /// Gives a dword to another lane, maybe of another wave.
    fn through_lds(&mut self) {
        if self.generation() < Gen::Gfx9 {
            self.emit("s_mov_b32 m0, -1");
        }
        let (from, to) = (self.data(0), self.data(0));
        let other = self.random().pick(&[4, 64, 252]);
        self.emit("v_lshlrev_b32_e32 v36, 2, v0");
        self.emit("v_and_b32_e32 v36, 0x7fc, v36");
        self.emit(&format!("ds_write_b32 v36, v{from}"));
        self.emit("s_waitcnt lgkmcnt(0)");
        if self.random().once_in(2) {
            self.emit("s_barrier");
        }
        self.emit(&format!("v_xor_b32_e32 v36, {other:#x}, v36"));
        self.emit(&format!("ds_read_b32 v{to}, v36"));
        self.emit("s_waitcnt lgkmcnt(0)");
    }
}
