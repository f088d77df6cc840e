//! VOP3a and VOP3b: operations that have no shorter form on any generation.

#[doc(hidden)]
#[macro_export]
macro_rules! vop3 { ($then:ident) => { $then! { Vop3;
    v_fma_f32      [0x14b 0x14b 0x1cb 0x1cb] (f32) = (f32, f32, f32);
} } }

vop3! { family }
