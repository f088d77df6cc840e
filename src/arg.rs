//! Arguments of a launch, as the host gives them.

use crate::buffer::Buffer;
use bytemuck::{NoUninit, Pod};
use gcnjit_rt::code_object::{self, ArgKind};
use gcnjit_rt::{ArgError, Value};
use std::borrow::Cow;

/// An explicit kernel argument. Kind and size are checked against the kernel's signature when the launch is prepared.
///
/// Buffers and scalars convert into one, so that [`Launch::arg`](crate::Launch::arg) takes them as they are.
#[derive(Clone, Debug)]
pub struct Arg<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Address(u64),
    Lds(u32),
    Bytes(Cow<'a, [u8]>),
    /// A scalar of the type with this name.
    Scalar(&'static str, [u8; 8], usize),
}

impl<'a> Arg<'a> {
    /// A raw guest address for a pointer argument: one inside of a buffer, or one that faults.
    pub fn pointer(address: u64) -> Arg<'static> {
        Arg(Kind::Address(address))
    }

    /// Dynamic LDS: this many bytes for each work-group, of which the kernel gets the address.
    pub fn lds(bytes: u32) -> Arg<'static> {
        Arg(Kind::Lds(bytes))
    }

    /// A scalar, vector or struct, as it lies in memory.
    pub fn bytes(bytes: impl Into<Cow<'a, [u8]>>) -> Arg<'a> {
        Arg(Kind::Bytes(bytes.into()))
    }

    /// A vector or struct by value.
    pub fn value<T: NoUninit>(value: &'a T) -> Arg<'a> {
        Arg::bytes(bytemuck::bytes_of(value))
    }

    /// The argument in the runtime's words.
    pub(crate) fn as_value(&self) -> Value<'_> {
        match &self.0 {
            Kind::Address(address) => Value::Buffer(*address),
            Kind::Lds(bytes) => Value::Lds(*bytes),
            Kind::Bytes(bytes) => Value::Bytes(bytes),
            Kind::Scalar(_, bytes, size) => Value::Bytes(&bytes[..*size]),
        }
    }

    /// Checks what [`gcnjit_rt::kernarg::layout`] can't see: that a scalar is of the kind that the source says, where
    /// the file knows it.
    pub(crate) fn check(&self, index: usize, parameter: &code_object::Arg) -> Result<(), ArgError> {
        let (Kind::Scalar(given, ..), ArgKind::Value | ArgKind::Widened { .. }) = (&self.0, parameter.kind) else {
            return Ok(());
        };
        let name = parameter.type_name.as_deref().unwrap_or_default();
        let expected = match name {
            "float" | "double" | "half" => "a floating-point number",
            "char" | "short" | "int" | "long" | "uchar" | "ushort" | "uint" | "ulong" | "bool" => "an integer",
            _ => return Ok(()),
        };
        match given.starts_with('f') == (expected == "a floating-point number") {
            true => Ok(()),
            false => Err(ArgError::Kind { index, name: name.to_owned(), expected, given }),
        }
    }
}

impl<'a, T: Pod> From<&'a Buffer<T>> for Arg<'a> {
    fn from(buffer: &'a Buffer<T>) -> Arg<'a> {
        Arg(Kind::Address(buffer.address()))
    }
}

macro_rules! scalars {
    ($($scalar:ty: $name:literal)*) => {$(
        impl From<$scalar> for Arg<'_> {
            fn from(value: $scalar) -> Self {
                let mut bytes = [0; 8];
                let size = size_of::<$scalar>();
                bytes[..size].copy_from_slice(&value.to_le_bytes());
                Arg(Kind::Scalar($name, bytes, size))
            }
        }
    )*};
}

scalars! {
    u8: "u8" i8: "i8" u16: "u16" i16: "i16" u32: "u32" i32: "i32" u64: "u64" i64: "i64"
    half::f16: "f16" f32: "f32" f64: "f64"
}
