//! EXP: export, an access of [`crate::access`].

use super::{Builder, Result};
use gcnjit_isa::Inst;

gcnjit_isa::exp! { access_rows }
