//! SOP1: scalar, one source.

#[doc(hidden)]
#[macro_export]
macro_rules! sop1 { ($then:ident) => { $then! { Sop1;
    s_mov_b32   [0x03 0x03 0x00 0x00] (b32) = (b32);
    s_and_saveexec_b64 [0x24 0x24 0x20 0x20] (b64, scc) ! (b64) [Reads(Exec), Writes(Exec)];
} } }

sop1! { family }
