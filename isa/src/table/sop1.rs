//! SOP1: scalar, one source.

#[doc(hidden)]
#[macro_export]
macro_rules! sop1 { ($then:ident) => { $then! { Sop1;
    s_mov_b32              [0x03 0x03 0x00 0x00] (b32)      = (b32);
    s_mov_b64              [0x04 0x04 0x01 0x01] (b64)      = (b64);
    s_cmov_b32             [0x05 0x05 0x02 0x02] (b32)      = (b32, b32, scc) [Acc];
    s_cmov_b64             [0x06 0x06 0x03 0x03] (b64)      = (b64, b64, scc) [Acc];
    s_not_b32              [0x07 0x07 0x04 0x04] (b32, scc) = (b32);
    s_not_b64              [0x08 0x08 0x05 0x05] (b64, scc) = (b64);
    s_wqm_b32              [0x09 0x09 0x06 0x06] (b32, scc) = (b32);
    s_wqm_b64              [0x0a 0x0a 0x07 0x07] (b64, scc) = (b64);
    s_brev_b32             [0x0b 0x0b 0x08 0x08] (b32)      = (b32);
    s_brev_b64             [0x0c 0x0c 0x09 0x09] (b64)      = (b64);
    s_bcnt0_i32_b32        [0x0d 0x0d 0x0a 0x0a] (i32, scc) = (b32);
    s_bcnt0_i32_b64        [0x0e 0x0e 0x0b 0x0b] (i32, scc) = (b64);
    s_bcnt1_i32_b32        [0x0f 0x0f 0x0c 0x0c] (i32, scc) = (b32);
    s_bcnt1_i32_b64        [0x10 0x10 0x0d 0x0d] (i32, scc) = (b64);
    s_ff0_i32_b32          [0x11 0x11 0x0e 0x0e] (i32)      = (b32);
    s_ff0_i32_b64          [0x12 0x12 0x0f 0x0f] (i32)      = (b64);
    s_ff1_i32_b32          [0x13 0x13 0x10 0x10] (i32)      = (b32);
    s_ff1_i32_b64          [0x14 0x14 0x11 0x11] (i32)      = (b64);
    s_flbit_i32_b32        [0x15 0x15 0x12 0x12] (i32)      = (b32);
    s_flbit_i32_b64        [0x16 0x16 0x13 0x13] (i32)      = (b64);
    s_flbit_i32            [0x17 0x17 0x14 0x14] (i32)      = (i32);
    s_flbit_i32_i64        [0x18 0x18 0x15 0x15] (i32)      = (i64);
    s_sext_i32_i8          [0x19 0x19 0x16 0x16] (i32)      = (b32);
    s_sext_i32_i16         [0x1a 0x1a 0x17 0x17] (i32)      = (b32);
    s_bitset0_b32          [0x1b 0x1b 0x18 0x18] (b32)      = (u32, b32) [Acc];
    s_bitset0_b64          [0x1c 0x1c 0x19 0x19] (b64)      = (u32, b64) [Acc];
    s_bitset1_b32          [0x1d 0x1d 0x1a 0x1a] (b32)      = (u32, b32) [Acc];
    s_bitset1_b64          [0x1e 0x1e 0x1b 0x1b] (b64)      = (u32, b64) [Acc];
    s_getpc_b64            [0x1f 0x1f 0x1c 0x1c] (b64)      ! ();
    s_setpc_b64            [0x20 0x20 0x1d 0x1d] ()         ! (b64) [EndsBlock];
    s_swappc_b64           [0x21 0x21 0x1e 0x1e] (b64)      ! (b64) [EndsBlock];
    s_rfe_b64              [0x22 0x22 0x1f 0x1f] ()         ! (b64) [EndsBlock];
    s_and_saveexec_b64     [0x24 0x24 0x20 0x20] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_or_saveexec_b64      [0x25 0x25 0x21 0x21] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_xor_saveexec_b64     [0x26 0x26 0x22 0x22] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_andn2_saveexec_b64   [0x27 0x27 0x23 0x23] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_orn2_saveexec_b64    [0x28 0x28 0x24 0x24] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_nand_saveexec_b64    [0x29 0x29 0x25 0x25] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_nor_saveexec_b64     [0x2a 0x2a 0x26 0x26] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_xnor_saveexec_b64    [0x2b 0x2b 0x27 0x27] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_quadmask_b32         [0x2c 0x2c 0x28 0x28] (b32, scc) = (b32);
    s_quadmask_b64         [0x2d 0x2d 0x29 0x29] (b64, scc) = (b64);
    s_movrels_b32          [0x2e 0x2e 0x2a 0x2a] (b32)      ! (b32) [Reads(M0)];
    s_movrels_b64          [0x2f 0x2f 0x2b 0x2b] (b64)      ! (b64) [Reads(M0)];
    s_movreld_b32          [0x30 0x30 0x2c 0x2c] (b32)      ! (b32) [Reads(M0)];
    s_movreld_b64          [0x31 0x31 0x2d 0x2d] (b64)      ! (b64) [Reads(M0)];
    s_cbranch_join         [0x32 0x32 0x2e 0x2e] ()         ! (b32) [EndsBlock, Reads(Exec), Writes(Exec)];
    s_mov_regrd_b32        [0x33 0x33 0x2f 0x2f] (b32)      ! (b32) [EndsBlock];
    s_abs_i32              [0x34 0x34 0x30 0x30] (i32, scc) = (i32);
    s_mov_fed_b32          [0x35 0x35 0x31 0x31] (b32)      = (b32);
    s_set_gpr_idx_idx      [   _    _ 0x32 0x32] ()         ! (b32) [Reads(M0), Writes(M0)];
    s_andn1_saveexec_b64   [   _    _    _ 0x33] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_orn1_saveexec_b64    [   _    _    _ 0x34] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_andn1_wrexec_b64     [   _    _    _ 0x35] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_andn2_wrexec_b64     [   _    _    _ 0x36] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
    s_bitreplicate_b64_b32 [   _    _    _ 0x37] (b64)      = (b32);
} } }

sop1! { family }
