//! Loads and stores of kernels: where lanes go is the sum of a base and their numbers, as compilers compute it.

use super::{Kernel, NUMBER, items};
use crate::case::{READ_ONLY, Space};
use gcnjit_isa::Gen;

/// The memories that arguments point to, and the SGPRs that do.
pub(super) const POINTERS: [(u8, Space); 3] = [(0, Space::A), (2, Space::B), (4, Space::C)];

/// The SGPRs that pointers are loaded into; one for each memory.
const LOADED: u8 = 64;
/// Those of a base that is another one for each work-group.
const MOVED: u8 = 72;
/// The same for loads of SGPRs.
const SCALAR_BASE: u8 = 74;
/// Those of a base from which bytes count that do not begin at 0.
const ELSEWHERE: u8 = 80;
/// Those of a resource.
const RESOURCE: u8 = 76;
/// VGPRs for the element that a lane wants, its address, and what is added to that.
const ELEMENT: u8 = 26;
const ADDRESS: u8 = 28;
const TERM: u8 = 30;

/// What is moved for a lane.
#[derive(Clone, Copy)]
struct Width {
    /// What memory instructions call it, for loads and stores.
    names: [&'static str; 2],
    bytes: u32,
}

const WIDTHS: [Width; 10] = [
    Width { names: ["dword", "dword"], bytes: 4 },
    Width { names: ["dword", "dword"], bytes: 4 },
    Width { names: ["dword", "dword"], bytes: 4 },
    Width { names: ["dword", "dword"], bytes: 4 },
    Width { names: ["dwordx2", "dwordx2"], bytes: 8 },
    Width { names: ["dwordx3", "dwordx3"], bytes: 12 },
    Width { names: ["dwordx4", "dwordx4"], bytes: 16 },
    Width { names: ["ubyte", "byte"], bytes: 1 },
    Width { names: ["sbyte", "byte"], bytes: 1 },
    Width { names: ["ushort", "short"], bytes: 2 },
];

impl Width {
    fn dwords(self) -> u32 {
        self.bytes.div_ceil(4)
    }
}

/// Where an access goes: a memory, the SGPRs that have its address, and bytes from there.
struct Place {
    base: u8,
    offset: u32,
    width: Width,
}

/// How the address is told.
#[derive(Clone, Copy)]
enum Form {
    /// 64 bits a lane.
    Flat,
    /// The same, with an offset in the instruction.
    Global,
    /// An address in SGPRs, and 32 bits a lane.
    GlobalBase,
    /// A resource, and 32 bits a lane.
    Buffer,
    /// A resource, and 64 bits a lane.
    BufferAddr64,
}

impl Kernel<'_> {
    /// A load of SGPRs; the offset is in bytes.
    pub(super) fn scalar_load(&mut self, dwords: u32, to: &str, base: &str, offset: u64) {
        let name = if dwords == 1 { "s_load_dword".to_owned() } else { format!("s_load_dwordx{dwords}") };
        let offset = if self.generation() < Gen::Gfx8 { offset / 4 } else { offset };
        self.emit(&format!("{name} {to}, {base}, {offset:#x}"));
    }

    /// Loads of the pointers and of data, from the kernarg segment or from a place that is another one for each
    /// work-group.
    pub(super) fn load_arguments(&mut self) {
        let loaded = match self.random().below(5) {
            0 => {
                for (first, _) in POINTERS {
                    let to = LOADED + first;
                    self.scalar_load(2, &format!("s[{to}:{}]", to + 1), "s[14:15]", u64::from(first) * 4);
                }
                0..0
            }
            1 => {
                if self.random().once_in(3) {
                    self.move_base();
                }
                self.scalar_load(4, "s[36:39]", &format!("s[{SCALAR_BASE}:{}]", SCALAR_BASE + 1), 0);
                // What nobody reads is loaded all the same.
                if self.random().once_in(2) { 36..40 } else { 0..0 }
            }
            2 => {
                self.scalar_load(4, "s[32:35]", "s[14:15]", 32);
                32..36
            }
            3 => {
                let offset = 4 * self.random().below(32);
                self.scalar_load(2, "s[40:41]", "s[4:5]", offset);
                self.scalar_load(1, "s42", "s[4:5]", offset + 8);
                40..43
            }
            _ => {
                let offset = 4 * self.random().below(256);
                self.scalar_load(1, "s43", "s[0:1]", offset);
                43..44
            }
        };
        self.scalars.extend(loaded);
        self.emit("s_waitcnt lgkmcnt(0)");
    }

    /// Computes the base that is another one for each work-group. What is loaded from there in the same block is not
    /// thought to be where it was.
    pub(super) fn move_base(&mut self) {
        let bits = if self.random().once_in(3) { self.last_outside() } else { self.random().pick(&[4, 4, 8]) };
        self.emit(&format!("s_lshl_b32 s62, s16, {bits}"));
        self.add_to_base(SCALAR_BASE, 0);
    }

    /// Adds bytes in s62 to a base.
    fn add_to_base(&mut self, to: u8, base: u8) {
        self.emit(&format!("s_add_u32 s{to}, s{base}, s62"));
        self.emit(&format!("s_addc_u32 s{}, s{}, 0", to + 1, base + 1));
    }

    /// By how many bits a work-group's number is shifted for the last ones' to be outside of the first memory.
    fn last_outside(&self) -> u32 {
        let groups = self.grid.items[0].div_ceil(self.grid.group[0]);
        (Space::A.size() as u32).div_ceil((groups - 1).max(1)).next_power_of_two().ilog2()
    }

    pub(super) fn load(&mut self) {
        self.access(false);
    }

    pub(super) fn store(&mut self) {
        self.access(true);
    }

    fn access(&mut self, store: bool) {
        let place = self.place_in_memory(store);
        self.move_element(&place, store);
    }

    /// Moves the element of a place that a lane wants.
    fn move_element(&mut self, place: &Place, store: bool) {
        let form = self.form();
        let data = self.data_of(place);
        let base = format!("s[{}:{}]", place.base, place.base + 1);
        let (address, pair) = (format!("v{ADDRESS}"), format!("v[{ADDRESS}:{}]", ADDRESS + 1));
        let (family, address, rest) = match form {
            Form::Flat => ("flat", pair, String::new()),
            Form::Global => ("global", pair, ", off".to_owned()),
            Form::GlobalBase => ("global", address, format!(", {base}")),
            Form::Buffer => ("buffer", address, self.resource(place.base, " offen")),
            Form::BufferAddr64 => ("buffer", pair, self.resource(place.base, " addr64")),
        };
        let inside = if matches!(form, Form::Flat) { 0 } else { place.offset };
        match form {
            Form::Flat | Form::Global => self.whole_address(place, place.offset - inside),
            Form::GlobalBase | Form::Buffer => self.scale(place, 0),
            Form::BufferAddr64 => {
                self.scale(place, 0);
                self.emit(&format!("v_mov_b32_e32 v{}, 0", ADDRESS + 1));
            }
        }
        let at = |offset: u32| if offset == 0 { String::new() } else { format!(" offset:{offset}") };
        let offset = at(inside);
        self.emit(&moved(family, place, store, [&data, &address], &format!("{rest}{offset}")));
        // What is near it, from the same address.
        if !store && !self.even && family == "global" && self.random().once_in(4) {
            let (near, to) = (at(inside + 4 * self.random().below(4) as u32), self.data(0));
            self.emit(&format!("global_load_dword v{to}, {address}{rest}{near}"));
        }
        if self.random().once_in(2) {
            self.emit("s_waitcnt vmcnt(0)");
        }
    }

    /// Any VGPRs for what is moved.
    fn data_of(&mut self, place: &Place) -> String {
        let more = u64::from(place.width.dwords()) - 1;
        let first = self.data(more);
        if more == 0 { format!("v{first}") } else { format!("v[{first}:{}]", first + more) }
    }

    fn form(&mut self) -> Form {
        use Form::{Buffer, BufferAddr64, Flat, Global, GlobalBase};
        // Those that superblocks have, and others.
        let (plain, others): (&[Form], &[Form]) = match self.generation() {
            Gen::Gfx6 => (&[Buffer, BufferAddr64], &[Buffer, BufferAddr64]),
            Gen::Gfx7 => (&[Flat], &[Buffer, BufferAddr64]),
            Gen::Gfx8 => (&[Flat], &[Buffer]),
            Gen::Gfx9 => (&[Global, Global, Global, GlobalBase, GlobalBase, GlobalBase, Flat], &[Buffer]),
        };
        let rarely = if self.plain { 40 } else { 5 };
        let forms = if self.random().once_in(rarely) { others } else { plain };
        self.random().pick(forms)
    }

    fn width(&mut self) -> Width {
        let width = self.random().pick(&WIDTHS);
        if width.bytes == 12 && self.generation() == Gen::Gfx6 { WIDTHS[0] } else { width }
    }

    /// Where an access goes; what is beyond the memory for some work-items is not, but for now and then.
    fn place_in_memory(&mut self, store: bool) -> Place {
        let any = [POINTERS[0], POINTERS[0], POINTERS[0], POINTERS[1], POINTERS[2]];
        let (pointer, space) = if self.even { POINTERS[0] } else { self.random().pick(&any) };
        let mut width = self.width();
        if self.even && width.bytes > 4 {
            width = WIDTHS[0];
        }
        let read_only = if store || space != Space::C { 0 } else { READ_ONLY };
        let room = (space.size() + read_only) as u32;
        let offset = width.bytes.min(4) * self.random().pick(&[0, 0, 0, 1, 2, 4, 16, 100]);
        let last = (room - offset) / width.bytes - 1;
        if last >= items(&self.grid) || self.random().once_in(40) {
            self.emit(&format!("v_mov_b32_e32 v{ELEMENT}, v{NUMBER}"));
        } else if self.random().once_in(3) {
            self.emit(&format!("v_min_u32_e32 v{ELEMENT}, {last:#x}, v{NUMBER}"));
        } else {
            let mask = ((last + 1).next_power_of_two() >> 1).max(1) - 1;
            self.emit(&format!("v_and_b32_e32 v{ELEMENT}, {mask:#x}, v{NUMBER}"));
        }
        if self.random().once_in(60) {
            self.lead_astray();
        }
        Place { base: self.base(pointer), offset, width }
    }

    /// A few turns, or some, each so many elements further on in memory. What counts them is an index that the address is
    /// computed from, or the address itself; others may look at that, in the loop or behind it.
    pub(super) fn stream(&mut self) {
        let turns = self.random().pick(&[1, 2, 3, 5, 9, 20]);
        let step = self.random().pick(&[1, 1, 1, 2, 16, 64]);
        let (place, store) = (self.place_of_stream(turns * step), self.random().once_in(6));
        let is_pointer = self.generation() > Gen::Gfx6 && self.random().once_in(3);
        if is_pointer {
            self.whole_address(&place, place.offset);
        }
        let counter = if is_pointer { ADDRESS } else { ELEMENT };
        self.repeat(turns, |kernel| {
            if kernel.random().once_in(3) {
                kernel.look_at(counter);
            }
            if is_pointer {
                kernel.follow(&place, store, step * place.width.bytes);
            } else {
                kernel.move_element(&place, store);
                kernel.arithmetic();
                kernel.add(ELEMENT, &format!("{step}"), ELEMENT);
            }
            if kernel.random().once_in(3) {
                kernel.load();
            }
        });
        if self.random().once_in(2) {
            self.look_at(counter);
        }
    }

    /// Where a loop goes that moves on by so many elements in all: mostly it stays in memory.
    fn place_of_stream(&mut self, far: u32) -> Place {
        let (pointer, space) = self.random().pick(&[POINTERS[0], POINTERS[0], POINTERS[1]]);
        let width = self.width();
        let offset = width.bytes.min(4) * self.random().pick(&[0, 0, 4]);
        let last = ((space.size() as u32 - offset) / width.bytes).saturating_sub(1 + far);
        if last >= items(&self.grid) || self.random().once_in(12) {
            self.emit(&format!("v_mov_b32_e32 v{ELEMENT}, v{NUMBER}"));
        } else {
            self.emit(&format!("v_min_u32_e32 v{ELEMENT}, {last:#x}, v{NUMBER}"));
        }
        Place { base: self.base(pointer), offset, width }
    }

    /// Moves what an address leads to, and moves that on.
    fn follow(&mut self, place: &Place, store: bool, bytes: u32) {
        let data = self.data_of(place);
        let (family, rest) = if self.generation() == Gen::Gfx9 { ("global", ", off") } else { ("flat", "") };
        let address = format!("v[{ADDRESS}:{}]", ADDRESS + 1);
        self.emit(&moved(family, place, store, [&data, &address], rest));
        self.arithmetic();
        self.add_with_carry(ADDRESS, &format!("{bytes:#x}"), ADDRESS);
        self.add_carry(ADDRESS + 1, "0", ADDRESS + 1);
    }

    /// Makes data of a number or an address.
    fn look_at(&mut self, register: u8) {
        let (to, other) = (self.data(0), self.data(0));
        let text = match self.random().below(6) {
            0 => format!("v_mov_b32_e32 v{to}, v{register}"),
            1 => format!("v_lshrrev_b32_e32 v{to}, 4, v{register}"),
            2 => format!("v_cvt_f32_u32_e32 v{to}, v{register}"),
            3 => format!("v_xor_b32_e32 v{to}, v{register}, v{other}"),
            4 => format!("v_lshlrev_b32_e32 v{to}, 3, v{register}"),
            _ => format!("v_ashrrev_i32_e32 v{to}, 31, v{register}"),
        };
        self.emit(&text);
    }

    /// One lane, or a few, go far away.
    fn lead_astray(&mut self) {
        let lane = self.random().below(64);
        let far = self.random().pick(&[0x1000, 0x7fff_ffff, 0x4000_0000, 0xffff_ffff, 0xffff_0000_u32]);
        self.emit(&format!("v_mov_b32_e32 v{TERM}, {far:#x}"));
        self.emit(&format!("v_cmp_eq_u32_e32 vcc, {lane}, v{NUMBER}"));
        self.emit(&format!("v_cndmask_b32_e32 v{ELEMENT}, v{ELEMENT}, v{TERM}, vcc"));
    }

    /// The SGPRs with the memory's address: the argument, or one that is loaded, or that moves on with the work-group.
    fn base(&mut self, pointer: u8) -> u8 {
        match self.random().below(8) {
            0 => {
                let to = LOADED + pointer;
                self.scalar_load(2, &format!("s[{to}:{}]", to + 1), "s[14:15]", u64::from(pointer) * 4);
                self.emit("s_waitcnt lgkmcnt(0)");
                to
            }
            1 if pointer == 0 && items(&self.grid) <= 512 => {
                let bytes = self.random().pick(&[4, 16, 64]);
                self.emit(&format!("s_mul_i32 s62, s16, {bytes}"));
                self.add_to_base(MOVED, pointer);
                MOVED
            }
            _ => pointer,
        }
    }

    /// Bytes from the base on.
    fn scale(&mut self, place: &Place, more: u32) {
        let bytes = place.width.bytes;
        match bytes.is_power_of_two() {
            true if !self.random().once_in(4) => {
                self.emit(&format!("v_lshlrev_b32_e32 v{ADDRESS}, {}, v{ELEMENT}", bytes.ilog2()));
            }
            _ if self.random().once_in(2) => self.emit(&format!("v_mul_lo_u32 v{ADDRESS}, v{ELEMENT}, {bytes}")),
            _ => self.emit(&format!("v_mul_u32_u24_e32 v{ADDRESS}, {bytes}, v{ELEMENT}")),
        }
        if more != 0 {
            self.add(ADDRESS, &format!("{more}"), ADDRESS);
        }
    }

    /// 64 bits: the base, the lane's number times what it moves, and `more` bytes. Of two factors that are extended either
    /// one may be first; now and then bytes count from a place where 32 bits change their sign, or end.
    fn whole_address(&mut self, place: &Place, more: u32) {
        let (high, bytes) = (ADDRESS + 1, place.width.bytes);
        if bytes.is_power_of_two() && self.random().once_in(2) {
            self.emit(&format!("v_ashrrev_i32_e32 v{}, 31, v{ELEMENT}", ELEMENT + 1));
            let (from, to) = (format!("v[{ELEMENT}:{}]", ELEMENT + 1), format!("v[{ADDRESS}:{high}]"));
            match self.generation() {
                Gen::Gfx6 | Gen::Gfx7 => self.emit(&format!("v_lshl_b64 {to}, {from}, {}", bytes.ilog2())),
                _ => self.emit(&format!("v_lshlrev_b64 {to}, {}, {from}", bytes.ilog2())),
            }
            self.add_base(place.base);
            if more != 0 {
                self.add_with_carry(ADDRESS, &format!("{more}"), ADDRESS);
                self.add_carry(high, "0", high);
            }
            return;
        }
        self.scale(place, more);
        let is_signed = self.random().once_in(2);
        let base = if self.random().once_in(8) { self.count_from_elsewhere(place, is_signed) } else { place.base };
        match is_signed {
            true => self.emit(&format!("v_ashrrev_i32_e32 v{high}, 31, v{ADDRESS}")),
            false => self.emit(&format!("v_mov_b32_e32 v{high}, 0")),
        }
        self.add_base(base);
    }

    /// Adds to the bytes, takes the same from the base, and returns where that is.
    fn count_from_elsewhere(&mut self, place: &Place, is_signed: bool) -> u8 {
        let all = items(&self.grid).wrapping_mul(place.width.bytes) + place.offset;
        let half = self.random().below(u64::from(all) + 1) as u32 & !3;
        let first =
            self.random().pick(&[half.wrapping_neg(), 0x8000_0000 - half, all.wrapping_neg() & !3, 0x8000_0000]);
        let high = if is_signed && first >> 31 != 0 { -1 } else { 0 };
        self.add(ADDRESS, &format!("{first:#x}"), ADDRESS);
        self.emit(&format!("s_sub_u32 s{ELSEWHERE}, s{}, {first:#x}", place.base));
        self.emit(&format!("s_subb_u32 s{}, s{}, {high}", ELSEWHERE + 1, place.base + 1));
        ELSEWHERE
    }

    /// The address of a lane, of a base and what is added to it.
    fn add_base(&mut self, base: u8) {
        self.emit(&format!("v_mov_b32_e32 v{TERM}, s{}", base + 1));
        self.add_with_carry(ADDRESS, &format!("s{base}"), ADDRESS);
        self.add_carry(ADDRESS + 1, &format!("v{TERM}"), ADDRESS + 1);
    }

    /// A resource at the base: the operands that name it, and how.
    fn resource(&mut self, base: u8, form: &str) -> String {
        let bytes = self.random().pick(&[0x2000, 0x2000, 0x1000, 0x7fff_ffff]);
        let [second, third, last] = [1, 2, 3].map(|more| RESOURCE + more);
        self.emit(&format!("s_mov_b32 s{RESOURCE}, s{base}"));
        self.emit(&format!("s_and_b32 s{second}, s{}, 0xffff", base + 1));
        self.emit(&format!("s_mov_b32 s{third}, {bytes:#x}"));
        self.emit(&format!("s_mov_b32 s{last}, 0x00027000"));
        format!(", s[{RESOURCE}:{last}], 0{form}")
    }
}

/// A load or a store, of data and an address, and what stands behind them.
fn moved(family: &str, place: &Place, store: bool, [data, address]: [&str; 2], rest: &str) -> String {
    let [load_name, store_name] = place.width.names;
    match (family, store) {
        ("buffer", true) => format!("buffer_store_{store_name} {data}, {address}{rest}"),
        ("buffer", false) => format!("buffer_load_{load_name} {data}, {address}{rest}"),
        (_, true) => format!("{family}_store_{store_name} {address}, {data}{rest}"),
        (_, false) => format!("{family}_load_{load_name} {data}, {address}{rest}"),
    }
}
