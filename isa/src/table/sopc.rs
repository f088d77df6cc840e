//! SOPC: scalar compares into SCC.

#[doc(hidden)]
#[macro_export]
macro_rules! sopc { ($then:ident) => { $then! { Sopc;
    s_cmp_eq_i32 [0x00 0x00 0x00 0x00] (scc) = (i32, i32);
} } }

sopc! { family }
