//! VOP1: vector, one source; promoted into VOP3 at 0x180 (gfx6, gfx7) or 0x140.

#[doc(hidden)]
#[macro_export]
macro_rules! vop1 { ($then:ident) => { $then! { Vop1;
    v_mov_b32      [0x01 0x01 0x01 0x01] (b32) = (b32);
    v_readfirstlane_b32 [0x02 0x02 0x02 0x02] (b32) ! (b32) [CrossLane, NoVop3];
} } }

vop1! { family }
