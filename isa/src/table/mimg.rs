//! MIMG: image memory.

#[doc(hidden)]
#[macro_export]
macro_rules! mimg { ($then:ident) => { $then! { Mimg;
    image_load     [0x00 0x00 0x00 0x00] (data) ? (data) [Mem(Load, 0)];
} } }

mimg! { family }
