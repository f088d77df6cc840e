//! SOPP: control, waits and messages.

#[doc(hidden)]
#[macro_export]
macro_rules! sopp { ($then:ident) => { $then! { Sopp;
    s_nop      [0x00 0x00 0x00 0x00] () ! (simm16);
    s_endpgm   [0x01 0x01 0x01 0x01] () ! (simm16) [EndsBlock];
    s_branch   [0x02 0x02 0x02 0x02] () ! (label) [EndsBlock];
} } }

sopp! { family }
