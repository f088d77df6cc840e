//! SOP2: scalar, two sources.

#[doc(hidden)]
#[macro_export]
macro_rules! sop2 { ($then:ident) => { $then! { Sop2;
    s_add_u32   [0x00 0x00 0x00 0x00] (u32, scc) = (u32, u32);
    s_addc_u32  [0x04 0x04 0x02 0x02] (u32, scc) = (u32, u32, scc);
} } }

sop2! { family }
