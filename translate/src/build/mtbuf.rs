//! MTBUF: typed buffer memory. Every row is an access of [`crate::access`], which knows the rows.

use super::{Builder, Result};
use gcnjit_isa::Inst;

gcnjit_isa::mtbuf! { access_rows }
