//! MIMG: image memory. Every row is an access of [`crate::access`], which knows the rows.

use super::{Builder, Result};
use gcnjit_isa::Inst;

gcnjit_isa::mimg! { access_rows }
