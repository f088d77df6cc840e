//! FLAT, GLOBAL and SCRATCH memory; one row for the segments an operation exists in.

#[doc(hidden)]
#[macro_export]
macro_rules! flat { ($then:ident) => { $then! { Flat;
    flat_load_dword [_ 0x0c 0x14 0x14] (b32) ! () [Mem(Load, 4)];
} } }

flat! { family }
