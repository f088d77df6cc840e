//! The numbers of work-items, and additions as each generation spells them.

use super::{Kernel, NUMBER, items};
use gcnjit_isa::Gen;

/// VGPRs for the number within the work-group and what it is computed from.
const LOCAL: u8 = 32;
const TERM: u8 = 33;
const FACTOR: u8 = 34;

impl Kernel<'_> {
    /// Computes the number from the coordinates: one after the other over the grid, or row by row; mostly. Now and then
    /// they are reversed, in another order, or equal for several lanes.
    pub(super) fn number(&mut self) {
        if self.grid.group[1] > 1 && self.random().once_in(2) {
            self.number_in_rows();
        } else {
            self.number_in_groups();
        }
        self.permute();
    }

    /// Row by row of an image.
    fn number_in_rows(&mut self) {
        let ([x, y, _], width) = (self.grid.group, self.grid.items[0]);
        self.emit(&format!("s_mul_i32 s62, s16, {x}"));
        self.emit(&format!("s_mul_i32 s63, s17, {y}"));
        self.add(LOCAL, "s62", 0);
        self.add(TERM, "s63", 1);
        if self.random().once_in(2) {
            self.emit(&format!("v_mul_u32_u24_e32 v{TERM}, {width}, v{TERM}"));
            self.add(NUMBER, &format!("v{TERM}"), LOCAL);
        } else {
            self.emit(&format!("v_mov_b32_e32 v{FACTOR}, {width}"));
            self.emit(&format!("v_mad_u32_u24 v{NUMBER}, v{TERM}, v{FACTOR}, v{LOCAL}"));
        }
    }

    /// The work-items of a work-group, then those of the next one.
    fn number_in_groups(&mut self) {
        let local = self.local();
        let size: u32 = self.grid.group.iter().product();
        self.emit("s_mov_b32 s62, s16");
        let [groups_x, groups_y, _]: [u32; 3] = std::array::from_fn(|d| self.grid.items[d] / self.grid.group[d]);
        for (coordinate, factor) in [("s17", groups_x), ("s18", groups_x * groups_y)] {
            if self.grid.group[1] > 1 {
                self.emit(&format!("s_mul_i32 s63, {coordinate}, {factor}"));
                self.emit("s_add_u32 s62, s62, s63");
            }
        }
        match self.random().below(3) {
            0 if size.is_power_of_two() => {
                self.emit(&format!("s_lshl_b32 s62, s62, {}", size.ilog2()));
                self.emit(&format!("v_or_b32_e32 v{NUMBER}, s62, v{local}"));
            }
            1 => {
                self.emit(&format!("v_mov_b32_e32 v{TERM}, s62"));
                self.emit(&format!("v_mov_b32_e32 v{FACTOR}, {size}"));
                self.emit(&format!("v_mad_u32_u24 v{NUMBER}, v{TERM}, v{FACTOR}, v{local}"));
            }
            _ => {
                self.emit(&format!("s_mul_i32 s62, s62, {size}"));
                self.add(NUMBER, "s62", local);
            }
        }
    }

    /// The number within the work-group, and the VGPR that it is in.
    fn local(&mut self) -> u8 {
        let [x, y, z] = self.grid.group;
        if y == 1 {
            return 0;
        }
        if x.is_power_of_two() && self.random().once_in(2) {
            self.emit(&format!("v_lshlrev_b32_e32 v{LOCAL}, {}, v1", x.ilog2()));
            self.emit(&format!("v_or_b32_e32 v{LOCAL}, v{LOCAL}, v0"));
        } else {
            self.emit(&format!("v_mul_u32_u24_e32 v{LOCAL}, {x}, v1"));
            self.add(LOCAL, "v0", LOCAL);
        }
        if z > 1 {
            self.emit(&format!("v_mul_u32_u24_e32 v{TERM}, {}, v2", x * y));
            self.add(LOCAL, &format!("v{TERM}"), LOCAL);
        }
        LOCAL
    }

    fn permute(&mut self) {
        let last = items(&self.grid) - 1;
        match self.random().below(16) {
            0 => self.subtract(NUMBER, &format!("{last:#x}"), NUMBER),
            1 => {
                let bits = self.random().pick(&[1, 2, 3, 15, 16, 32, 48, 63]);
                self.emit(&format!("v_xor_b32_e32 v{NUMBER}, {bits}, v{NUMBER}"));
            }
            2 => {
                let bits = 1 + self.random().below(2);
                self.emit(&format!("v_lshrrev_b32_e32 v{NUMBER}, {bits}, v{NUMBER}"));
            }
            3 => {
                let bits: u32 = self.random().pick(&[1, 3, 15, 16, 63]);
                self.emit(&format!("v_and_b32_e32 v{NUMBER}, {:#x}, v{NUMBER}", !bits));
            }
            4 => {
                let mask = (u32::MAX >> last.leading_zeros().min(31)) >> 1;
                self.emit(&format!("v_mul_u32_u24_e32 v{NUMBER}, 3, v{NUMBER}"));
                self.emit(&format!("v_and_b32_e32 v{NUMBER}, {mask:#x}, v{NUMBER}"));
            }
            _ => {}
        }
    }

    /// Sums of 32 bits. What else that changes is not asked for.
    pub(super) fn add(&mut self, to: u8, x: &str, y: u8) {
        match self.generation() {
            Gen::Gfx9 => self.emit(&format!("v_add_u32_e32 v{to}, {x}, v{y}")),
            _ => self.add_with_carry(to, x, y),
        }
    }

    fn subtract(&mut self, to: u8, x: &str, y: u8) {
        match self.generation() {
            Gen::Gfx6 | Gen::Gfx7 => self.emit(&format!("v_sub_i32_e32 v{to}, vcc, {x}, v{y}")),
            Gen::Gfx8 => self.emit(&format!("v_sub_u32_e32 v{to}, vcc, {x}, v{y}")),
            Gen::Gfx9 => self.emit(&format!("v_sub_u32_e32 v{to}, {x}, v{y}")),
        }
    }

    /// The low half of a sum of 64 bits; the carry is in VCC.
    pub(super) fn add_with_carry(&mut self, to: u8, x: &str, y: u8) {
        let name = match self.generation() {
            Gen::Gfx6 | Gen::Gfx7 => "v_add_i32_e32",
            Gen::Gfx8 => "v_add_u32_e32",
            Gen::Gfx9 => "v_add_co_u32_e32",
        };
        self.emit(&format!("{name} v{to}, vcc, {x}, v{y}"));
    }

    /// The high half.
    pub(super) fn add_carry(&mut self, to: u8, x: &str, y: u8) {
        let name = if self.generation() == Gen::Gfx9 { "v_addc_co_u32_e32" } else { "v_addc_u32_e32" };
        self.emit(&format!("{name} v{to}, vcc, {x}, v{y}, vcc"));
    }
}
