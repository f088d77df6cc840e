//! MUBUF: untyped buffer memory.

#[doc(hidden)]
#[macro_export]
macro_rules! mubuf { ($then:ident) => { $then! { Mubuf;
    buffer_load_dword [0x0c 0x0c 0x14 0x14] (b32) ! () [Mem(Load, 4)];
} } }

mubuf! { family }
