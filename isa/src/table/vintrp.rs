//! VINTRP: parameter interpolation; promoted into VOP3 at 0x270 (gfx8, gfx9).

#[doc(hidden)]
#[macro_export]
macro_rules! vintrp { ($then:ident) => { $then! { Vintrp;
    v_interp_p1_f32  [0x00 0x00 0x00 0x00] (f32) ! (f32) [Reads(M0)];
    v_interp_p2_f32  [0x01 0x01 0x01 0x01] (f32) ! (f32, f32) [Reads(M0), Acc];
    v_interp_mov_f32 [0x02 0x02 0x02 0x02] (f32) ! (simm16) [Reads(M0)];
} } }

vintrp! { family }
