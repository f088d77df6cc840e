//! VOP3P: packed 16-bit, mixed precision and dot products (gfx9).

#[doc(hidden)]
#[macro_export]
macro_rules! vop3p { ($then:ident) => { $then! { Vop3p;
    v_pk_mad_i16     [   _    _    _ 0x00] (v2i16) = (v2i16, v2i16, v2i16);
    v_pk_mul_lo_u16  [   _    _    _ 0x01] (v2u16) = (v2u16, v2u16);
    v_pk_add_i16     [   _    _    _ 0x02] (v2i16) = (v2i16, v2i16);
    v_pk_sub_i16     [   _    _    _ 0x03] (v2i16) = (v2i16, v2i16);
    v_pk_lshlrev_b16 [   _    _    _ 0x04] (v2u16) = (v2u16, v2u16);
    v_pk_lshrrev_b16 [   _    _    _ 0x05] (v2u16) = (v2u16, v2u16);
    v_pk_ashrrev_i16 [   _    _    _ 0x06] (v2i16) = (v2u16, v2i16);
    v_pk_max_i16     [   _    _    _ 0x07] (v2i16) = (v2i16, v2i16);
    v_pk_min_i16     [   _    _    _ 0x08] (v2i16) = (v2i16, v2i16);
    v_pk_mad_u16     [   _    _    _ 0x09] (v2u16) = (v2u16, v2u16, v2u16);
    v_pk_add_u16     [   _    _    _ 0x0a] (v2u16) = (v2u16, v2u16);
    v_pk_sub_u16     [   _    _    _ 0x0b] (v2u16) = (v2u16, v2u16);
    v_pk_max_u16     [   _    _    _ 0x0c] (v2u16) = (v2u16, v2u16);
    v_pk_min_u16     [   _    _    _ 0x0d] (v2u16) = (v2u16, v2u16);
    v_pk_fma_f16     [   _    _    _ 0x0e] (v2f16) = (v2f16, v2f16, v2f16);
    v_pk_add_f16     [   _    _    _ 0x0f] (v2f16) = (v2f16, v2f16);
    v_pk_mul_f16     [   _    _    _ 0x10] (v2f16) = (v2f16, v2f16);
    v_pk_min_f16     [   _    _    _ 0x11] (v2f16) = (v2f16, v2f16);
    v_pk_max_f16     [   _    _    _ 0x12] (v2f16) = (v2f16, v2f16);
    v_fma_mix_f32    [   _    _    _ 0x20] (f32)   = (f32, f32, f32) [Only(FmaMix), Mix];
    v_mad_mix_f32    [   _    _    _ 0x20] (f32)   = (f32, f32, f32) [Only(MadMix), Mix];
    v_fma_mixlo_f16  [   _    _    _ 0x21] (f16)   = (f32, f32, f32) [Only(FmaMix), Mix];
    v_mad_mixlo_f16  [   _    _    _ 0x21] (f16)   = (f32, f32, f32) [Only(MadMix), Mix];
    v_fma_mixhi_f16  [   _    _    _ 0x22] (f16)   = (f32, f32, f32) [Only(FmaMix), Mix];
    v_mad_mixhi_f16  [   _    _    _ 0x22] (f16)   = (f32, f32, f32) [Only(MadMix), Mix];
    v_dot2_f32_f16   [   _    _    _ 0x23] (f32)   = (v2f16, v2f16, f32) [Only(Dot)];
    v_dot2_i32_i16   [   _    _    _ 0x26] (i32)   = (v2i16, v2i16, i32) [Only(Dot)];
    v_dot2_u32_u16   [   _    _    _ 0x27] (u32)   = (v2u16, v2u16, u32) [Only(Dot)];
    v_dot4_i32_i8    [   _    _    _ 0x28] (i32)   = (b32, b32, i32) [Only(Dot)];
    v_dot4_u32_u8    [   _    _    _ 0x29] (u32)   = (b32, b32, u32) [Only(Dot)];
    v_dot8_i32_i4    [   _    _    _ 0x2a] (i32)   = (b32, b32, i32) [Only(Dot)];
    v_dot8_u32_u4    [   _    _    _ 0x2b] (u32)   = (b32, b32, u32) [Only(Dot)];
} } }

vop3p! { family }
