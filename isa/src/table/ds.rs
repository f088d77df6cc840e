//! DS: local and global data share.

#[doc(hidden)]
#[macro_export]
macro_rules! ds { ($then:ident) => { $then! { Ds;
    ds_read_b32    [0x36 0x36 0x36 0x36] (b32) ! (b32) [Mem(Load, 4)];
} } }

ds! { family }
