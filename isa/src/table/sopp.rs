//! SOPP: control, waits and messages.

#[doc(hidden)]
#[macro_export]
macro_rules! sopp { ($then:ident) => { $then! { Sopp;
    s_nop                      [0x00 0x00 0x00 0x00] () ! (simm16);
    s_endpgm                   [0x01 0x01 0x01 0x01] () ! (simm16) [EndsBlock];
    s_branch                   [0x02 0x02 0x02 0x02] () ! (label) [EndsBlock];
    s_wakeup                   [   _    _ 0x03 0x03] () ! ();
    s_cbranch_scc0             [0x04 0x04 0x04 0x04] () ! (label, scc) [EndsBlock];
    s_cbranch_scc1             [0x05 0x05 0x05 0x05] () ! (label, scc) [EndsBlock];
    s_cbranch_vccz             [0x06 0x06 0x06 0x06] () ! (label) [Reads(Vcc), EndsBlock];
    s_cbranch_vccnz            [0x07 0x07 0x07 0x07] () ! (label) [Reads(Vcc), EndsBlock];
    s_cbranch_execz            [0x08 0x08 0x08 0x08] () ! (label) [Reads(Exec), EndsBlock];
    s_cbranch_execnz           [0x09 0x09 0x09 0x09] () ! (label) [Reads(Exec), EndsBlock];
    s_barrier                  [0x0a 0x0a 0x0a 0x0a] () ! () [EndsBlock];
    s_setkill                  [0x0b 0x0b 0x0b 0x0b] () ! (simm16);
    s_waitcnt                  [0x0c 0x0c 0x0c 0x0c] () ! (simm16);
    s_sethalt                  [0x0d 0x0d 0x0d 0x0d] () ! (simm16) [EndsBlock];
    s_sleep                    [0x0e 0x0e 0x0e 0x0e] () ! (simm16) [EndsBlock];
    s_setprio                  [0x0f 0x0f 0x0f 0x0f] () ! (simm16);
    s_sendmsg                  [0x10 0x10 0x10 0x10] () ! (simm16) [Reads(M0)];
    s_sendmsghalt              [0x11 0x11 0x11 0x11] () ! (simm16) [Reads(M0), EndsBlock];
    s_trap                     [0x12 0x12 0x12 0x12] () ! (simm16) [EndsBlock];
    s_icache_inv               [0x13 0x13 0x13 0x13] () ! () [EndsBlock];
    s_incperflevel             [0x14 0x14 0x14 0x14] () ! (simm16);
    s_decperflevel             [0x15 0x15 0x15 0x15] () ! (simm16);
    s_ttracedata               [0x16 0x16 0x16 0x16] () ! () [Reads(M0)];
    s_cbranch_cdbgsys          [0x17 0x17 0x17 0x17] () ! (label) [EndsBlock];
    s_cbranch_cdbguser         [0x18 0x18 0x18 0x18] () ! (label) [EndsBlock];
    s_cbranch_cdbgsys_or_user  [0x19 0x19 0x19 0x19] () ! (label) [EndsBlock];
    s_cbranch_cdbgsys_and_user [0x1a 0x1a 0x1a 0x1a] () ! (label) [EndsBlock];
    s_endpgm_saved             [   _    _ 0x1b 0x1b] () ! () [EndsBlock];
    s_set_gpr_idx_off          [   _    _ 0x1c 0x1c] () ! () [Writes(Mode)];
    s_set_gpr_idx_mode         [   _    _ 0x1d 0x1d] () ! (simm16) [Reads(M0), Writes(M0), Writes(Mode)];
    s_endpgm_ordered_ps_done   [   _    _    _ 0x1e] () ! () [EndsBlock];
} } }

sopp! { family }
