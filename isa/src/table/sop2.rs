//! SOP2: scalar, two sources.

#[doc(hidden)]
#[macro_export]
macro_rules! sop2 { ($then:ident) => { $then! { Sop2;
    s_add_u32         [0x00 0x00 0x00 0x00] (u32, scc) = (u32, u32);
    s_sub_u32         [0x01 0x01 0x01 0x01] (u32, scc) = (u32, u32);
    s_add_i32         [0x02 0x02 0x02 0x02] (i32, scc) = (i32, i32);
    s_sub_i32         [0x03 0x03 0x03 0x03] (i32, scc) = (i32, i32);
    s_addc_u32        [0x04 0x04 0x04 0x04] (u32, scc) = (u32, u32, scc);
    s_subb_u32        [0x05 0x05 0x05 0x05] (u32, scc) = (u32, u32, scc);
    s_min_i32         [0x06 0x06 0x06 0x06] (i32, scc) = (i32, i32);
    s_min_u32         [0x07 0x07 0x07 0x07] (u32, scc) = (u32, u32);
    s_max_i32         [0x08 0x08 0x08 0x08] (i32, scc) = (i32, i32);
    s_max_u32         [0x09 0x09 0x09 0x09] (u32, scc) = (u32, u32);
    s_cselect_b32     [0x0a 0x0a 0x0a 0x0a] (b32)      = (b32, b32, scc);
    s_cselect_b64     [0x0b 0x0b 0x0b 0x0b] (b64)      = (b64, b64, scc);
    s_and_b32         [0x0e 0x0e 0x0c 0x0c] (b32, scc) = (b32, b32);
    s_and_b64         [0x0f 0x0f 0x0d 0x0d] (b64, scc) = (b64, b64);
    s_or_b32          [0x10 0x10 0x0e 0x0e] (b32, scc) = (b32, b32);
    s_or_b64          [0x11 0x11 0x0f 0x0f] (b64, scc) = (b64, b64);
    s_xor_b32         [0x12 0x12 0x10 0x10] (b32, scc) = (b32, b32);
    s_xor_b64         [0x13 0x13 0x11 0x11] (b64, scc) = (b64, b64);
    s_andn2_b32       [0x14 0x14 0x12 0x12] (b32, scc) = (b32, b32);
    s_andn2_b64       [0x15 0x15 0x13 0x13] (b64, scc) = (b64, b64);
    s_orn2_b32        [0x16 0x16 0x14 0x14] (b32, scc) = (b32, b32);
    s_orn2_b64        [0x17 0x17 0x15 0x15] (b64, scc) = (b64, b64);
    s_nand_b32        [0x18 0x18 0x16 0x16] (b32, scc) = (b32, b32);
    s_nand_b64        [0x19 0x19 0x17 0x17] (b64, scc) = (b64, b64);
    s_nor_b32         [0x1a 0x1a 0x18 0x18] (b32, scc) = (b32, b32);
    s_nor_b64         [0x1b 0x1b 0x19 0x19] (b64, scc) = (b64, b64);
    s_xnor_b32        [0x1c 0x1c 0x1a 0x1a] (b32, scc) = (b32, b32);
    s_xnor_b64        [0x1d 0x1d 0x1b 0x1b] (b64, scc) = (b64, b64);
    s_lshl_b32        [0x1e 0x1e 0x1c 0x1c] (b32, scc) = (b32, u32);
    s_lshl_b64        [0x1f 0x1f 0x1d 0x1d] (b64, scc) = (b64, u32);
    s_lshr_b32        [0x20 0x20 0x1e 0x1e] (b32, scc) = (b32, u32);
    s_lshr_b64        [0x21 0x21 0x1f 0x1f] (b64, scc) = (b64, u32);
    s_ashr_i32        [0x22 0x22 0x20 0x20] (i32, scc) = (i32, u32);
    s_ashr_i64        [0x23 0x23 0x21 0x21] (i64, scc) = (i64, u32);
    s_bfm_b32         [0x24 0x24 0x22 0x22] (b32)      = (u32, u32);
    s_bfm_b64         [0x25 0x25 0x23 0x23] (b64)      = (u32, u32);
    s_mul_i32         [0x26 0x26 0x24 0x24] (i32)      = (i32, i32);
    s_bfe_u32         [0x27 0x27 0x25 0x25] (u32, scc) = (u32, u32);
    s_bfe_i32         [0x28 0x28 0x26 0x26] (i32, scc) = (i32, u32);
    s_bfe_u64         [0x29 0x29 0x27 0x27] (u64, scc) = (u64, u32);
    s_bfe_i64         [0x2a 0x2a 0x28 0x28] (i64, scc) = (i64, u32);
    s_cbranch_g_fork  [0x2b 0x2b 0x29 0x29] ()         ! (b64, b64) [EndsBlock, Reads(Exec), Writes(Exec)];
    s_absdiff_i32     [0x2c 0x2c 0x2a 0x2a] (i32, scc) = (i32, i32);
    s_rfe_restore_b64 [   _    _ 0x2b 0x2b] ()         ! (b64, b32) [EndsBlock];
    s_mul_hi_u32      [   _    _    _ 0x2c] (u32)      = (u32, u32);
    s_mul_hi_i32      [   _    _    _ 0x2d] (i32)      = (i32, i32);
    s_lshl1_add_u32   [   _    _    _ 0x2e] (u32, scc) = (u32, u32);
    s_lshl2_add_u32   [   _    _    _ 0x2f] (u32, scc) = (u32, u32);
    s_lshl3_add_u32   [   _    _    _ 0x30] (u32, scc) = (u32, u32);
    s_lshl4_add_u32   [   _    _    _ 0x31] (u32, scc) = (u32, u32);
    s_pack_ll_b32_b16 [   _    _    _ 0x32] (b32)      = (b32, b32);
    s_pack_lh_b32_b16 [   _    _    _ 0x33] (b32)      = (b32, b32);
    s_pack_hh_b32_b16 [   _    _    _ 0x34] (b32)      = (b32, b32);
} } }

sop2! { family }
