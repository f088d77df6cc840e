//! VINTRP: parameter interpolation.

#[doc(hidden)]
#[macro_export]
macro_rules! vintrp { ($then:ident) => { $then! { Vintrp;
    v_interp_p1_f32 [0x00 0x00 0x00 0x00] (f32) ? (f32);
} } }

vintrp! { family }
