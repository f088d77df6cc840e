//! Integer arithmetic that saturates where the instruction's clamp bit is set, and wraps otherwise.

use super::Builder;
use crate::lane::Value;

impl Builder {
    /// x + y, unsigned.
    pub fn add_unsigned(&mut self, x: Value, y: Value) -> Value {
        if !self.clamp {
            return self.add(x, y);
        }
        let room = self.not(y);
        let x = self.min_u(x, room);
        self.add(x, y)
    }

    /// x − y, unsigned, of any width up to theirs.
    pub fn sub_unsigned(&mut self, x: Value, y: Value) -> Value {
        let x = if self.clamp { self.max_u(x, y) } else { x };
        self.sub(x, y)
    }

    /// x + y, signed.
    pub fn add_signed(&mut self, x: Value, y: Value) -> Value {
        let sum = self.add(x, y);
        let (from_x, from_y) = (self.xor(sum, x), self.xor(sum, y));
        self.signed_or_limit(x, sum, from_x, from_y)
    }

    /// x − y, signed.
    pub fn sub_signed(&mut self, x: Value, y: Value) -> Value {
        let difference = self.sub(x, y);
        let (from_x, apart) = (self.xor(difference, x), self.xor(x, y));
        self.signed_or_limit(x, difference, from_x, apart)
    }

    /// `result`, or the limit on x's side if the signs of `a` and `b` say that it overflowed.
    fn signed_or_limit(&mut self, x: Value, result: Value, a: Value, b: Value) -> Value {
        if !self.clamp {
            return result;
        }
        let (both, zero) = (self.and(a, b), self.b32(0));
        let overflow = self.slt(both, zero);
        let limit = self.limit(x);
        self.select(overflow, limit, result)
    }

    /// The least or the greatest i32, by the sign of `x`.
    fn limit(&mut self, x: Value) -> Value {
        let sign = self.sar_by(x, 31);
        self.xor_bits(sign, 0x7fff_ffff)
    }

    /// The low half of an unsigned 64-bit value.
    pub fn narrow_unsigned(&mut self, x: Value) -> Value {
        let (low, high) = (self.lo(x), self.hi(x));
        if !self.clamp {
            return low;
        }
        let (fits, most) = (self.is_zero(high), self.b32(u32::MAX));
        self.select(fits, low, most)
    }

    /// The low half of a signed 64-bit value.
    pub fn narrow_signed(&mut self, x: Value) -> Value {
        let (low, high) = (self.lo(x), self.hi(x));
        if !self.clamp {
            return low;
        }
        let sign = self.sar_by(low, 31);
        let (fits, limit) = (self.eq(sign, high), self.limit(high));
        self.select(fits, low, limit)
    }

    /// The low 16 bits of an unsigned value.
    pub fn unsigned_16(&mut self, x: Value) -> Value {
        let most = self.b32(0xffff);
        if self.clamp { self.min_u(x, most) } else { x }
    }

    /// The low 16 bits of a signed value.
    pub fn signed_16(&mut self, x: Value) -> Value {
        if self.clamp { self.limited(x, -0x8000, 0x7fff) } else { x }
    }

    /// A signed value between two limits.
    pub fn limited(&mut self, x: Value, least: i32, most: i32) -> Value {
        let (least, most) = (self.b32(least.cast_unsigned()), self.b32(most.cast_unsigned()));
        let x = self.max_s(x, least);
        self.min_s(x, most)
    }

    /// The 64-bit product of signed 32-bit factors.
    pub fn mul_wide_signed(&mut self, x: Value, y: Value) -> Value {
        let (low, high) = (self.mul(x, y), self.mul_hi_s(x, y));
        self.pack(low, high)
    }
}
