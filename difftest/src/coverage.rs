//! What a campaign executed: rows by encoding, with which modifiers, under which MODE.

use crate::campaign::Plan;
use crate::feature::{Allowed, Feature, allowed};
use crate::generate::{Probe, is_control};
use gcnjit_isa::{Encoding, Ext, Format, Gen, Inst, Note, Op, Second, Target, Ty};
use gcnjit_rt::Mode;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// A row in one of its encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Form {
    /// The row.
    pub op: Op,
    /// Its encoding: 0 the 32-bit or only one, 1 VOP3, 2 SDWA, 3 DPP.
    kind: u8,
}

/// The targets that stand for all: each generation, and each set of features.
pub const TARGETS: [Target; 5] = [Target::Gfx600, Target::Gfx700, Target::Gfx803, Target::Gfx900, Target::Gfx906];

impl Form {
    /// The form an instruction is in.
    pub fn of(inst: &Inst) -> Form {
        let long = matches!(inst.format, Format::Vop3a | Format::Vop3b);
        let kind = match inst.ext {
            Ext::Sdwa(_) => 2,
            Ext::Dpp(_) => 3,
            _ => u8::from(long),
        };
        Form { op: inst.op, kind }
    }

    /// The form that an encoding makes.
    pub fn encoded(op: Op, encoding: Encoding) -> Form {
        let kind = match encoding.second {
            Some(Second::Sdwa) => 2,
            Some(Second::Dpp) => 3,
            None => u8::from(matches!(encoding.format, Format::Vop3a | Format::Vop3b)),
        };
        Form { op, kind }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.kind {
            1 if !matches!(self.op, Op::Vop3(_)) => "_e64",
            2 => "_sdwa",
            3 => "_dpp",
            _ => "",
        };
        write!(f, "{}{suffix}", self.op.info().name)
    }
}

/// A setting of MODE that matters to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// Rounding and denormals of f32, each as in MODE.
    Single(u8, u8),
    /// Rounding and denormals of f64 and f16.
    Double(u8, u8),
    /// DX10_CLAMP of an instruction with clamp.
    Dx10Clamp(bool),
    /// IEEE.
    Ieee(bool),
    /// M0 indexes VGPRs.
    Indexed,
    /// Vector instructions are skipped.
    Skipped,
}

impl Setting {
    /// A feature that an example of it needs, and MODE.
    fn example(self) -> (Option<Feature>, u32) {
        match self {
            // Both widths alike, so that a program is an example for all of its instructions; the other bits by turns.
            Setting::Single(round, denormals) | Setting::Double(round, denormals) => {
                let (round, denormals) = (u32::from(round), u32::from(denormals));
                (None, round | round << 2 | denormals << 4 | denormals << 6 | (round ^ denormals) << 8 & 0x300)
            }
            Setting::Dx10Clamp(on) => (Some(Feature::Clamp), 0xf0 | u32::from(on) << 8),
            Setting::Ieee(on) => (None, 0xf0 | u32::from(on) << 9),
            Setting::Indexed => (None, 0xf0 | Mode::GPR_INDEX),
            Setting::Skipped => (None, 0xf0 | Mode::VSKIP),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Single(round, denormals) => write!(f, "f32 round {round} denormals {denormals}"),
            Setting::Double(round, denormals) => write!(f, "f64/f16 round {round} denormals {denormals}"),
            Setting::Dx10Clamp(on) => write!(f, "clamp, DX10_CLAMP {}", u8::from(*on)),
            Setting::Ieee(on) => write!(f, "IEEE {}", u8::from(*on)),
            Setting::Indexed => f.write_str("indexed by M0"),
            Setting::Skipped => f.write_str("VSKIP"),
        }
    }
}

/// Whether the row works on floats of 32 bits, and of 64 or 16 bits.
fn floats(op: Op) -> (bool, bool) {
    let info = op.info();
    let vector = matches!(op.family(), "vop1" | "vop2" | "vopc" | "vop3" | "vop3p");
    let any = |wanted: fn(&Ty) -> bool| vector && info.dsts.iter().chain(info.srcs).any(wanted);
    (any(|ty| *ty == Ty::f32), any(|ty| matches!(ty, Ty::f16 | Ty::f64 | Ty::v2f16)))
}

/// The settings that a run of `inst` under `mode` is an example of.
fn settings(inst: &Inst, mode: Mode) -> Vec<Setting> {
    let (single, double) = floats(inst.op);
    let (two, bit) = (|at: u32| (mode.0 >> at & 3) as u8, |at: u32| mode.0 >> at & 1 != 0);
    if mode.vskip() {
        return if inst.op.obeys_vskip() { vec![Setting::Skipped] } else { Vec::new() };
    }
    let mut settings = Vec::new();
    if single {
        settings.push(Setting::Single(two(0), two(4)));
    }
    if double {
        settings.push(Setting::Double(two(2), two(6)));
    }
    if single || double {
        settings.push(Setting::Ieee(bit(9)));
        settings.extend(inst.mods.clamp.then_some(Setting::Dx10Clamp(bit(8))));
    }
    settings.extend((mode.gpr_index() && inst.op.obeys_vskip()).then_some(Setting::Indexed));
    settings
}

/// The settings that matter to a row of `generation`.
fn wanted_settings(op: Op, clamps: bool, generation: Gen) -> Vec<Setting> {
    let (single, double) = floats(op);
    let pairs = || (0..16).map(|bits| (bits & 3, bits >> 2));
    let mut settings = Vec::new();
    settings.extend(pairs().filter(|_| single).map(|(round, denormals)| Setting::Single(round, denormals)));
    settings.extend(pairs().filter(|_| double).map(|(round, denormals)| Setting::Double(round, denormals)));
    for on in [false, true] {
        settings.extend((single || double).then_some(Setting::Ieee(on)));
        settings.extend(((single || double) && clamps).then_some(Setting::Dx10Clamp(on)));
    }
    let vector_alu = matches!(op.family(), "vop1" | "vop2" | "vopc" | "vop3" | "vop3p");
    settings.extend((vector_alu && generation >= Gen::Gfx8).then_some(Setting::Indexed));
    settings.extend(op.obeys_vskip().then_some(Setting::Skipped));
    settings
}

/// What was executed, and how often.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    forms: HashMap<(Form, Gen), u64>,
    features: HashMap<(Form, Feature), u64>,
    settings: HashMap<(Op, Setting), u64>,
}

/// What could have been executed.
#[derive(Default)]
pub struct Wanted {
    forms: BTreeSet<(Form, Gen)>,
    /// With what shows it: a target and an encoding.
    features: BTreeMap<(Form, Feature), (Target, Encoding)>,
    settings: BTreeSet<(Op, Setting)>,
    /// What shows a form.
    shown: BTreeMap<Form, Vec<(Target, Encoding)>>,
    refused: BTreeSet<(Form, Feature)>,
}

/// How much of something was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Executed at least once.
    pub done: usize,
    /// There are.
    pub all: usize,
    /// What was never executed, in words.
    pub never: Vec<String>,
}

/// Coverage in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows by encoding and generation.
    pub forms: Share,
    /// Rows by encoding and modifier or operand kind.
    pub features: Share,
    /// Rows by MODE.
    pub settings: Share,
    /// What decodes, and both engines refuse.
    pub refused: Vec<String>,
}

/// Whether a row is drawn at all: both engines have it, and what it does can be compared.
pub fn is_drawn(op: Op) -> bool {
    let info = op.info();
    // Clocks count the host's time. s_getreg_b32 reads what is the same in both engines.
    let clock = info.has(Note::Host) && info.name != "s_getreg_b32";
    // A single work-group has nobody to meet, and what has no documented meaning only stops the wave: tests/meet.rs.
    let meets = matches!(op, Op::Ds(_)) && info.has(Note::EndsBlock);
    let undocumented = info.name.ends_with("_regrd_b32");
    info.executed && !clock && !meets && !undocumented
}

/// Probes that may share a program: by the target's name and MODE.
type Groups = BTreeMap<(&'static str, Option<u32>), (Target, Vec<Probe>)>;

/// Whether a row is among those asked for: by its family's name or the beginning of its mnemonic. All are if none is.
pub fn is_chosen(op: Op, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| name == op.family() || op.info().name.starts_with(name.as_str()))
}

impl Wanted {
    /// Everything of the rows that `names` choose, on `targets`.
    pub fn new(targets: &[Target], names: &[String]) -> Wanted {
        let mut wanted = Wanted::default();
        let chosen = |op: &Op| is_drawn(*op) && is_chosen(*op, names);
        for target in targets {
            let generation = target.generation();
            for op in Op::all().filter(|op| chosen(op) && target.supports(*op)) {
                for encoding in op.encodings(generation) {
                    wanted.add(op, encoding, *target);
                }
            }
        }
        wanted
    }

    fn add(&mut self, op: Op, encoding: Encoding, target: Target) {
        let (form, generation) = (Form::encoded(op, encoding), target.generation());
        let Allowed { executed, refused } = allowed(op, encoding, target);
        let clamps = executed.contains(&Feature::Clamp);
        self.forms.insert((form, generation));
        self.shown.entry(form).or_default().push((target, encoding));
        self.settings.extend(wanted_settings(op, clamps, generation).into_iter().map(|setting| (op, setting)));
        for feature in executed {
            self.features.entry((form, feature)).or_insert((target, encoding));
        }
        self.refused.extend(refused.into_iter().map(|feature| (form, feature)));
    }

    /// Programs that show what `coverage` lacks, with at most `most` probes in each.
    pub fn plans(&self, coverage: &Coverage, most: usize) -> Vec<Plan> {
        let mut groups: Groups = BTreeMap::new();
        let mut single = Vec::new();
        for (probe, target, mode) in self.lacking(coverage) {
            if is_control(probe.0) {
                single.push(Plan { target, mode: mode.map(Mode), probes: vec![probe] });
            } else {
                groups.entry((target.name(), mode)).or_insert((target, Vec::new())).1.push(probe);
            }
        }
        let chunked = groups.into_iter().flat_map(|((_, mode), (target, probes))| {
            let plan = |probes: &[Probe]| Plan { target, mode: mode.map(Mode), probes: probes.to_vec() };
            probes.chunks(most).map(plan).collect::<Vec<_>>()
        });
        chunked.chain(single).collect()
    }

    /// What was not executed: a probe for it, on a target, under a MODE if it matters.
    fn lacking(&self, coverage: &Coverage) -> Vec<(Probe, Target, Option<u32>)> {
        let mut lacking = Vec::new();
        for (form, generation) in self.forms.iter().filter(|key| !coverage.forms.contains_key(key)) {
            let shown = self.shown[form].iter().find(|(target, _)| target.generation() == *generation);
            lacking.extend(shown.map(|(target, encoding)| ((form.op, *encoding, None), *target, None)));
        }
        for (key, (target, encoding)) in self.features.iter().filter(|(key, _)| !coverage.features.contains_key(key)) {
            let (form, feature) = key;
            lacking.push(((form.op, *encoding, Some(*feature)), *target, None));
        }
        for (op, setting) in self.settings.iter().filter(|key| !coverage.settings.contains_key(key)) {
            let forms = self.shown.iter().filter(|(form, _)| form.op == *op);
            let (feature, mode) = setting.example();
            let fits = |form: &Form| feature.is_none_or(|feature| self.features.contains_key(&(*form, feature)));
            let new = |target: &Target| *setting != Setting::Indexed || target.generation() >= Gen::Gfx8;
            let mut shown = forms.filter(|(form, _)| fits(form)).flat_map(|(_, shown)| shown.iter().rev());
            let shown = shown.find(|(target, _)| new(target));
            lacking.extend(shown.map(|(target, encoding)| ((*op, *encoding, feature), *target, Some(mode))));
        }
        lacking
    }
}

impl Coverage {
    /// Counts an executed instruction.
    pub fn count(&mut self, inst: &Inst, mode: Mode, target: Target) {
        let form = Form::of(inst);
        for setting in settings(inst, mode) {
            *self.settings.entry((inst.op, setting)).or_default() += 1;
        }
        if mode.vskip() && inst.op.obeys_vskip() {
            return;
        }
        *self.forms.entry((form, target.generation())).or_default() += 1;
        for feature in Feature::of(inst) {
            *self.features.entry((form, feature)).or_default() += 1;
        }
    }

    /// Adds what another thread counted.
    pub fn add(&mut self, other: Coverage) {
        let add = |into: &mut u64, more: u64| *into += more;
        other.forms.into_iter().for_each(|(key, count)| add(self.forms.entry(key).or_default(), count));
        other.features.into_iter().for_each(|(key, count)| add(self.features.entry(key).or_default(), count));
        other.settings.into_iter().for_each(|(key, count)| add(self.settings.entry(key).or_default(), count));
    }

    /// How often each encoding family was executed.
    pub fn families(&self) -> BTreeMap<&'static str, u64> {
        let mut families = BTreeMap::new();
        for ((form, _), count) in &self.forms {
            *families.entry(form.op.family()).or_default() += count;
        }
        families
    }

    /// What of `wanted` was executed, and what was not.
    pub fn report(&self, wanted: &Wanted) -> Report {
        let forms = share(wanted.forms.iter(), &self.forms, |(form, generation)| format!("{form} on {generation:?}"));
        let features = share(wanted.features.keys(), &self.features, |(form, feature)| format!("{form} {feature}"));
        let settings =
            share(wanted.settings.iter(), &self.settings, |(op, setting)| format!("{} {setting}", op.info().name));
        let refused = wanted.refused.iter().map(|(form, feature)| format!("{form} {feature}"));
        Report { forms, features, settings, refused: refused.collect() }
    }
}

fn share<'a, K: Eq + std::hash::Hash + 'a>(
    wanted: impl ExactSizeIterator<Item = &'a K>,
    done: &HashMap<K, u64>,
    name: impl Fn(&K) -> String,
) -> Share {
    let all = wanted.len();
    let never: Vec<String> = wanted.filter(|key| !done.contains_key(key)).map(name).collect();
    Share { done: all - never.len(), all, never }
}
