//! SOPK: scalar with a 16-bit immediate; the one register field is destination and first source.

#[doc(hidden)]
#[macro_export]
macro_rules! sopk { ($then:ident) => { $then! { Sopk;
    s_movk_i32  [0x00 0x00 0x00 0x00] (b32) = (simm16);
    s_addk_i32  [0x0f 0x0f 0x0e 0x0e] (i32, scc) = (i32, simm16);
} } }

sopk! { family }
