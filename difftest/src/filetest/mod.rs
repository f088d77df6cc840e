//! `.gcn` filetests: a case and what is expected of it, as text.
//!
//! ```text
//! ; What it is about.
//! target gfx803 gfx900
//! mode 0x3f0
//! set v0 = 1.5f
//! set v1[3] = 0x7fc00000
//! set s[4:5] = &a + 0x10
//! memory a[0x10] = 0x3f800000 2
//! run
//!   v_add_f32_e32 v2, v0, v1
//!   s_endpgm
//! expect v2 = 2.0f
//! ```
//!
//! | line | meaning |
//! |---|---|
//! | `target T...` | where it is run; once on each |
//! | `mode M`, `scc B` | MODE and SCC, 0 if not given |
//! | `wave N` | what follows is for wave N alone, from 0; before it, for all. The highest says how many there are |
//! | `grid XxYxZ of XxYxZ` | the program is a kernel: a launch of so many work-items, in work-groups of so many. More of them follow one after the other. s0 to s13 are its arguments, as the kernarg segment has them too, to which `s[14:15]` point; s16 to s18 are the work-group's coordinates, v0 to v2 the work-item's. LDS begins with zeros, and of registers nothing can be expected |
//! | `set R = V` | a register: `s4`, `s[4:5]` (64 bits), `vcc`, `exec`, `m0`, `flat_scratch`; `v0` all lanes, `v0[7]` one, `v0[0:3]` some with a value each; `v[2:3]` pairs. EXEC is all ones if not given |
//! | `set R = &M + V` | the address in a memory, `a` `b` `c` `scratch` or `code`; lanes as before |
//! | `memory M[O] = V...` | dwords from byte O on, of those or `lds`, `gds` |
//! | `run` | the program begins: instructions as llvm-mc spells them, labels; `pcrel(L)` for a literal is L minus the instruction's own address. It ends at the next line without indentation that is no label |
//! | `expect R = V...` | a register after the program: `s4`, `s[4:5]`, `vcc`, `exec`, `scc`, `mode`, `v0`, `v0[7]`, `v0[0:3]` |
//! | `expect M[O] = V...` | dwords of a memory |
//! | `expect ir TEXT`, `expect no-ir TEXT` | the lane IR of the first block has the text in it, or has not |
//! | `expect end E` | `ended`, or `fault CAUSE at &M+O lane L wave W pc P` |
//!
//! Values are `7`, `-1`, `0x1f`, or floats `1.5f` (f32) and `1.5d` (f64, for pairs). What is given for fewer lanes is
//! repeated. `;` begins a comment. Both engines have to agree whatever is expected.

mod check;
mod parse;
mod value;
mod write;

pub use check::{Failed, bless, check};
pub use parse::{Error, Expect, Filetest, Place, parse};
pub use write::write;
