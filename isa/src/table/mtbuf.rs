//! MTBUF: typed buffer memory.

#[doc(hidden)]
#[macro_export]
macro_rules! mtbuf { ($then:ident) => { $then! { Mtbuf;
    tbuffer_load_format_x [0x00 0x00 0x00 0x00] (b32) ? () [Mem(Load, 4)];
} } }

mtbuf! { family }
