//! VOP2: vector, two sources; promoted into VOP3 at 0x100.

#[doc(hidden)]
#[macro_export]
macro_rules! vop2 { ($then:ident) => { $then! { Vop2;
    v_cndmask_b32  [0x00 0x00 0x00 0x00] (b32) = (b32, b32, mask);
    v_add_f32      [0x03 0x03 0x01 0x01] (f32) = (f32, f32);
    v_mac_f32      [0x1f 0x1f 0x16 0x16] (f32) = (f32, f32, f32) [Acc];
    v_add_co_u32   [0x25 0x25 0x19 0x19] (u32, mask) = (u32, u32) [Was(Gfx6, "v_add_i32"), Was(Gfx7, "v_add_i32"), Was(Gfx8, "v_add_u32"), Vop3b];
} } }

vop2! { family }
