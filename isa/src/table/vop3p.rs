//! VOP3P: packed 16-bit, mixed precision and dot products (gfx9).

#[doc(hidden)]
#[macro_export]
macro_rules! vop3p { ($then:ident) => { $then! { Vop3p;
    v_pk_add_u16   [_ _ _ 0x0a] (v2u16) ? (v2u16, v2u16);
} } }

vop3p! { family }
