//! EXP: export.

#[doc(hidden)]
#[macro_export]
macro_rules! exp { ($then:ident) => { $then! { Exp;
    exp [0x00 0x00 0x00 0x00] () ! (data, data, data, data) [Reads(Exec)];
} } }

exp! { family }
