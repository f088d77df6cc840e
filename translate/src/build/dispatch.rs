//! From a row to its body.
//!
//! Each family file hands its rows to `rows!`, which makes one exhaustive `match` of them: a row without a body
//! there does not compile. The sign in the row says what the body is given: `=` the values of its sources, `!` the
//! instruction; `?` rows stop translation. `sources` and `commit` are what the family file imports by these names.

use super::{Builder, Result};
use crate::lane::Value;
use gcnjit_isa::{Inst, Op};

/// Results of a pure body.
pub trait Results {
    /// In the order of the row; a `b128` takes four.
    fn values(self) -> Vec<Value>;
}

impl Results for Value {
    fn values(self) -> Vec<Value> {
        vec![self]
    }
}

impl Results for (Value, Value) {
    fn values(self) -> Vec<Value> {
        vec![self.0, self.1]
    }
}

/// A `b128`: its dwords.
impl Results for [Value; 4] {
    fn values(self) -> Vec<Value> {
        self.to_vec()
    }
}

/// Makes `build(op, b, inst)` of a family's rows.
macro_rules! rows {
    ($Family:ident; $( $name:ident [$g6:tt $g7:tt $g8:tt $g9:tt] ($($d:ident),*) $how:tt ($($s:ident),*) $([$($note:expr),* $(,)?])? ; )*) => {
        pub(super) fn build(op: gcnjit_isa::$Family, b: &mut Builder, inst: &Inst) -> Result {
            match op {
                $(gcnjit_isa::$Family::$name => body!($how $name b inst ($($s)*)),)*
            }
        }
    };
}

macro_rules! body {
    (= $name:ident $b:ident $inst:ident ($($s:ident)*)) => {{
        let mut values = sources($b, $inst)?.into_iter();
        let results = $name($b, $(body!(@next values $s)),*);
        commit($b, $inst, crate::build::dispatch::Results::values(results))
    }};
    (! $name:ident $b:ident $inst:ident $types:tt) => { $name($b, $inst) };
    (? $name:ident $b:ident $inst:ident $types:tt) => { $b.unimplemented($inst, "the row is not executed yet") };
    (@next $values:ident b128) => { std::array::from_fn::<_, 4, _>(|_| body!(@next $values dword)) };
    (@next $values:ident $s:ident) => { $values.next().expect("a value for each source type") };
}

/// Builds one instruction.
pub fn instruction(b: &mut Builder, inst: &Inst) -> Result {
    match inst.op {
        Op::Sop2(op) => super::sop2::build(op, b, inst),
        Op::Sopk(op) => super::sopk::build(op, b, inst),
        Op::Sop1(op) => super::sop1::build(op, b, inst),
        Op::Sopc(op) => super::sopc::build(op, b, inst),
        Op::Sopp(op) => super::sopp::build(op, b, inst),
        Op::Smem(op) => super::smem::build(op, b, inst),
        Op::Vop2(op) => super::vop2::build(op, b, inst),
        Op::Vop1(op) => super::vop1::build(op, b, inst),
        Op::Vopc(op) => super::vopc::build(op, b, inst),
        Op::Vop3(op) => super::vop3::build(op, b, inst),
        Op::Vop3p(op) => super::vop3p::build(op, b, inst),
        Op::Ds(op) => super::ds::build(op, b, inst),
        Op::Mubuf(op) => super::mubuf::build(op, b, inst),
        Op::Mtbuf(op) => super::mtbuf::build(op, b, inst),
        Op::Flat(op) => super::flat::build(op, b, inst),
        Op::Mimg(op) => super::mimg::build(op, b, inst),
        Op::Vintrp(op) => super::vintrp::build(op, b, inst),
        Op::Exp(op) => super::exp::build(op, b, inst),
    }
}

/// Makes `build` of a memory family: its executed rows are accesses.
macro_rules! access_rows {
    ($Family:ident; $( $name:ident [$g6:tt $g7:tt $g8:tt $g9:tt] ($($d:ident),*) $how:tt ($($s:ident),*) $([$($note:expr),* $(,)?])? ; )*) => {
        pub(super) fn build(op: gcnjit_isa::$Family, b: &mut Builder, inst: &Inst) -> Result {
            match op {
                $(gcnjit_isa::$Family::$name => access_rows!(@$how b inst),)*
            }
        }
    };
    (@! $b:ident $inst:ident) => { $b.access($inst) };
    (@? $b:ident $inst:ident) => { $b.unimplemented($inst, "the row is not executed yet") };
}
