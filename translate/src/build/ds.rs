//! DS: local and global data share. Every row is an access of [`crate::access`], which knows the rows.

use super::{Builder, Result};
use gcnjit_isa::Inst;

gcnjit_isa::ds! { access_rows }
