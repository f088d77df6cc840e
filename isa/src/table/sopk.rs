//! SOPK: scalar with a 16-bit immediate; the one register field is destination and first source.

#[doc(hidden)]
#[macro_export]
macro_rules! sopk { ($then:ident) => { $then! { Sopk;
    s_movk_i32         [0x00 0x00 0x00 0x00] (b32)      = (simm16);
    s_cmovk_i32        [0x02 0x02 0x01 0x01] (b32)      = (simm16, b32, scc) [Acc];
    s_cmpk_eq_i32      [0x03 0x03 0x02 0x02] (scc)      = (i32, simm16);
    s_cmpk_lg_i32      [0x04 0x04 0x03 0x03] (scc)      = (i32, simm16);
    s_cmpk_gt_i32      [0x05 0x05 0x04 0x04] (scc)      = (i32, simm16);
    s_cmpk_ge_i32      [0x06 0x06 0x05 0x05] (scc)      = (i32, simm16);
    s_cmpk_lt_i32      [0x07 0x07 0x06 0x06] (scc)      = (i32, simm16);
    s_cmpk_le_i32      [0x08 0x08 0x07 0x07] (scc)      = (i32, simm16);
    s_cmpk_eq_u32      [0x09 0x09 0x08 0x08] (scc)      = (u32, simm16);
    s_cmpk_lg_u32      [0x0a 0x0a 0x09 0x09] (scc)      = (u32, simm16);
    s_cmpk_gt_u32      [0x0b 0x0b 0x0a 0x0a] (scc)      = (u32, simm16);
    s_cmpk_ge_u32      [0x0c 0x0c 0x0b 0x0b] (scc)      = (u32, simm16);
    s_cmpk_lt_u32      [0x0d 0x0d 0x0c 0x0c] (scc)      = (u32, simm16);
    s_cmpk_le_u32      [0x0e 0x0e 0x0d 0x0d] (scc)      = (u32, simm16);
    s_addk_i32         [0x0f 0x0f 0x0e 0x0e] (i32, scc) = (i32, simm16);
    s_mulk_i32         [0x10 0x10 0x0f 0x0f] (i32)      = (i32, simm16);
    s_cbranch_i_fork   [0x11 0x11 0x10 0x10] ()         ! (b64, label) [EndsBlock, Reads(Exec), Writes(Exec)];
    s_getreg_b32       [0x12 0x12 0x11 0x11] (b32)      ! (simm16) [Reads(Mode), Host];
    s_setreg_b32       [0x13 0x13 0x12 0x12] ()         ! (b32, simm16) [Reads(Mode), Writes(Mode)];
    s_getreg_regrd_b32 [0x14 0x14 0x13 0x13] (b32)      ! (simm16) [EndsBlock];
    s_setreg_imm32_b32 [0x15 0x15 0x14 0x14] ()         ! (b32, simm16) [Reads(Mode), Writes(Mode)];
    s_call_b64         [   _    _    _ 0x15] (b64)      ! (label) [EndsBlock];
} } }

sopk! { family }
