//! VOPC: vector compares into a lane mask; promoted into VOP3 at 0.

#[doc(hidden)]
#[macro_export]
macro_rules! vopc { ($then:ident) => { $then! { Vopc;
    v_cmp_lt_f32   [0x01 0x01 0x41 0x41] (mask) = (f32, f32);
} } }

vopc! { family }
