//! Which rows a target has, by family, and how often each family comes up.

use super::KERNEL_FAMILIES;
use crate::coverage::{is_chosen, is_drawn};
use crate::random::Random;
use gcnjit_isa::{Encoding, Op, Target};

/// How often a family comes up among others, in parts of their sum.
const WEIGHTS: [(&str, u64); 17] = [
    ("sop2", 8),
    ("sopk", 3),
    ("sop1", 6),
    ("sopc", 3),
    ("sopp", 2),
    ("smem", 3),
    ("vop2", 14),
    ("vop1", 10),
    ("vopc", 8),
    ("vop3", 14),
    ("vop3p", 5),
    ("ds", 6),
    ("mubuf", 5),
    ("mtbuf", 2),
    ("flat", 5),
    ("mimg", 6),
    ("vintrp", 2),
];

/// Rows with their encodings.
type Family = Vec<(Op, Vec<Encoding>)>;

/// The rows of a target that may be drawn.
pub struct Rows {
    /// The target.
    pub target: Target,
    families: Vec<(u64, Family)>,
}

impl Rows {
    /// Those of `target` that `names` choose.
    pub fn new(target: Target, names: &[String]) -> Rows {
        let generation = target.generation();
        let rows = |family: &str| -> Family {
            let of = |op: &Op| op.family() == family && is_drawn(*op) && is_chosen(*op, names) && target.supports(*op);
            Op::all().filter(of).map(|op| (op, op.encodings(generation))).collect()
        };
        let families =
            WEIGHTS.iter().map(|(family, weight)| (*weight, rows(family))).filter(|(_, rows)| !rows.is_empty());
        Rows { target, families: families.collect() }
    }

    /// Those that are drawn for kernels.
    pub fn of_kernels(target: Target, names: &[String]) -> Rows {
        let families = Rows::new(target, names).families.into_iter();
        let of_kernels = |family: &(u64, Family)| KERNEL_FAMILIES.contains(&family.1[0].0.family());
        Rows { target, families: families.filter(of_kernels).collect() }
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
    }

    /// A row and one of its encodings.
    pub fn draw(&self, random: &mut Random) -> (Op, Encoding) {
        let sum: u64 = self.families.iter().map(|(weight, _)| weight).sum();
        let mut at = random.below(sum);
        let mut family = &self.families[0].1;
        for (weight, rows) in &self.families {
            family = rows;
            if at < *weight {
                break;
            }
            at -= weight;
        }
        let (op, encodings) = &family[random.below(family.len() as u64) as usize];
        (*op, random.pick(encodings))
    }
}
