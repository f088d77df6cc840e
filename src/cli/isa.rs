//! `gcnjit isa`: what the table knows of an instruction, generation by generation.

use crate::cli::failure::Failure;
use crate::cli::print;
use gcnjit::isa::{
    Access, Counters, Encoding, Evidence, Fidelity, Gen, Implicit, Mem, Memory, Note, Op, Second, Space, Target, Ty,
};
use serde_json::{Value, json};
use std::fmt::Write;

/// Prints what the instruction table knows of an instruction.
#[derive(clap::Args)]
pub struct Args {
    /// A mnemonic of any generation, such as v_add_f32; a suffix like _e64 may stay on.
    name: String,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Prints every row that has the name on some generation.
pub fn main(args: &Args) -> Result<(), Failure> {
    let rows: Vec<Op> = matching(&args.name);
    if rows.is_empty() {
        return Err(unknown(&args.name));
    }
    if args.json {
        return print(&format!("{}\n", Value::from_iter(rows.into_iter().map(json))));
    }
    print(&rows.into_iter().map(text).collect::<Vec<_>>().join("\n"))
}

/// The rows of a mnemonic. All segments of FLAT are the row of the flat one.
fn matching(name: &str) -> Vec<Op> {
    let name = name.to_ascii_lowercase();
    let base = ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    let segment = base.strip_prefix("global_").or(base.strip_prefix("scratch_"));
    let base = segment.map_or(base.to_owned(), |rest| format!("flat_{rest}"));
    Op::all().filter(|op| Gen::ALL.iter().any(|generation| op.info().name_on(*generation) == base)).collect()
}

fn unknown(name: &str) -> Failure {
    let known = |op: &Op| op.info().name;
    let like: Vec<&str> = Op::all().map(|op| known(&op)).filter(|known| known.contains(name)).take(8).collect();
    let hint = if like.is_empty() { String::new() } else { format!("; there is {}", like.join(", ")) };
    Failure::usage(format!("no generation has an instruction '{name}'{hint}"))
}

/// Names of things in a list, or a dash for none.
fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.as_ref().to_owned()).collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}

fn types(types: &[Ty]) -> Vec<String> {
    types.iter().map(|ty| format!("{ty:?}")).collect()
}

fn registers(registers: &[Implicit]) -> Vec<&'static str> {
    let name = |register: &Implicit| match register {
        Implicit::Vcc => "VCC",
        Implicit::Exec => "EXEC",
        Implicit::M0 => "M0",
        Implicit::Mode => "MODE",
        Implicit::FlatScratch => "FLAT_SCRATCH",
    };
    registers.iter().map(name).collect()
}

fn format_name(encoding: &Encoding, generation: Gen) -> String {
    let name = match format!("{:?}", encoding.format).to_ascii_uppercase().as_str() {
        "SMEM" if generation < Gen::Gfx8 => "SMRD".to_owned(),
        "VOP3A" => "VOP3a".to_owned(),
        "VOP3B" => "VOP3b".to_owned(),
        other => other.to_owned(),
    };
    match encoding.second {
        None => name,
        Some(Second::Sdwa) => format!("{name} SDWA"),
        Some(Second::Dpp) => format!("{name} DPP"),
    }
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Load => "load",
        Access::Store => "store",
        Access::Atomic => "atomic",
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Scalar => "scalar",
        Space::Share => "data share",
        Space::Buffer => "buffer",
        Space::Image => "image",
        Space::Flat => "flat",
    }
}

fn memory_text(memory: Memory) -> String {
    let Memory { space, access, bytes } = memory;
    let per = if space == Space::Scalar { "" } else { " a lane" };
    let size = if bytes == 0 { "size by the format".to_owned() } else { format!("{bytes} bytes{per}") };
    format!("{} {}, {size}", space_name(space), access_name(access))
}

/// Forms of an instruction whose counters differ: what selects the form, and its memory fields.
fn counted(op: Op, generation: Gen) -> Vec<(&'static str, Counters)> {
    let plain = op.counters(generation, &Mem::default());
    let (form, mem) = match op {
        Op::Ds(_) => ("gds", Mem { gds: true, ..Mem::default() }),
        Op::Flat(_) if generation == Gen::Gfx9 => ("global, scratch", Mem { seg: 2, ..Mem::default() }),
        _ => return vec![("", plain)],
    };
    let other = op.counters(generation, &mem);
    if other == plain { vec![("", plain)] } else { vec![("", plain), (form, other)] }
}

fn counters_text(op: Op, generation: Gen) -> Vec<String> {
    let counted = counted(op, generation).into_iter().map(|(form, counters)| {
        let Counters { vmcnt, expcnt, lgkmcnt } = counters;
        let each = [("vmcnt", vmcnt), ("expcnt", expcnt), ("lgkmcnt", lgkmcnt)];
        let parts: Vec<String> =
            each.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} +{count}")).collect();
        let prefix = if form.is_empty() { String::new() } else { format!("{form}: ") };
        (!parts.is_empty()).then(|| prefix + &parts.join(" "))
    });
    counted.flatten().collect()
}

/// The names of a row's forms on a generation: FLAT has one a segment.
fn names(op: Op, generation: Gen) -> Vec<String> {
    let name = op.info().name_on(generation).to_owned();
    let mut names = vec![name];
    if let (Op::Flat(_), Gen::Gfx9) = (op, generation) {
        names.push(names[0].replacen("flat", "global", 1));
        if op.info().has(Note::Scratch) {
            names.push(names[0].replacen("flat", "scratch", 1));
        }
    }
    names
}

/// The targets that have a row, where not all of the generation do.
fn some_targets(op: Op, generation: Gen) -> Option<Vec<&'static str>> {
    op.feature().map(|_| op.targets(generation).map(Target::name).collect())
}

/// What notes say that nothing else shows.
fn remarks(op: Op) -> Vec<String> {
    let remark = |note: &Note| {
        let text = match note {
            Note::Acc => "the last source is the destination's old value",
            Note::Konst(1) => "source 1 is a constant that follows the instruction",
            Note::Konst(_) => "source 2 is a constant that follows the instruction",
            Note::EndsBlock => "ends a basic block",
            Note::CrossLane => "crosses lanes",
            Note::ScalarDst => "the result is a scalar register",
            Note::LaneId => "depends on the lane's number",
            Note::Offsets(unit) => return Some(format!("two offsets, in units of {unit} bytes")),
            Note::Gds => "always works on the global data share",
            Note::NoAddr => "the address is the lane's place, not a VGPR",
            Note::OpSel => "op_sel picks halves of 16-bit operands in VOP3",
            Note::Mix => "sources are f32, or f16 by op_sel_hi",
            Note::Attr => "names an interpolation attribute",
            _ => return None,
        };
        Some(text.to_owned())
    };
    op.info().notes.iter().filter_map(remark).collect()
}

/// The exceptions, and what says so where it is no matter of course.
fn raises(op: Op) -> String {
    let exceptions = op.exceptions();
    match op.exceptions_by() {
        Evidence::Manual if exceptions.is_empty() => list::<&str>([]),
        by => format!("{exceptions} ({by})"),
    }
}

fn text(op: Op) -> String {
    let info = op.info();
    let mut out = String::new();
    let status = if info.executed { "interpreted and translated" } else { "decoded, not executed" };
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{name:<12}{text}");
    };
    line(info.name, "");
    line("  family", &op.family().to_ascii_uppercase());
    line("  status", status);
    line("  fidelity", &info.fidelity().to_string());
    line("  raises", &raises(op));
    line("  results", &list(types(info.dsts)));
    line("  sources", &list(types(info.srcs)));
    if let Some(memory) = op.memory() {
        line("  memory", &memory_text(memory));
    }
    if !remarks(op).is_empty() {
        line("  notes", &remarks(op).join("; "));
    }
    for generation in Gen::ALL {
        on_generation(op, generation, &mut line);
    }
    out.lines().map(str::trim_end).fold(String::new(), |text, line| text + line + "\n")
}

fn on_generation(op: Op, generation: Gen, line: &mut impl FnMut(&str, &str)) {
    let head = format!("  {}", format!("{generation:?}").to_ascii_lowercase());
    let encodings = op.encodings(generation);
    if encodings.is_empty() {
        return line(&head, "-");
    }
    let targets = some_targets(op, generation).map_or(String::new(), |targets| format!(" ({})", targets.join(", ")));
    line(&head, &(list(names(op, generation)) + &targets));
    let encodings = encodings.iter().map(|it| format!("{} {:#04x}", format_name(it, generation), it.opcode));
    line("    encoding", &format!("  {}", list(encodings)));
    line("    reads", &format!("  {}", list(registers(&op.implicit_reads(generation)))));
    line("    writes", &format!("  {}", list(registers(&op.implicit_writes()))));
    line("    counts", &format!("  {}", list(counters_text(op, generation))));
}

fn json(op: Op) -> Value {
    let info = op.info();
    let memory = op.memory().map(|Memory { space, access, bytes }| {
        json!({ "space": space_name(space), "access": access_name(access), "bytes": bytes })
    });
    let has = Gen::ALL.into_iter().filter(|generation| info.code(*generation).is_some());
    let generations = has.map(|generation| (format!("{generation:?}").to_ascii_lowercase(), on_json(op, generation)));
    json!({
        "name": info.name,
        "family": op.family(),
        "executed": info.executed,
        "fidelity": fidelity(info.fidelity()),
        "raises": op.exceptions().names().collect::<Vec<_>>(),
        "raises_by": op.exceptions_by().to_string(),
        "results": types(info.dsts),
        "sources": types(info.srcs),
        "memory": memory,
        "crosses_lanes": op.crosses_lanes(),
        "notes": remarks(op),
        "generations": generations.collect::<serde_json::Map<_, _>>(),
    })
}

fn fidelity(fidelity: Fidelity) -> Value {
    match fidelity {
        Fidelity::Exact => json!({ "kind": "exact" }),
        Fidelity::Approximate { ulps } => json!({ "kind": "approximate", "ulps": ulps }),
        Fidelity::Filtered => json!({ "kind": "filtered" }),
        Fidelity::HostDefined => json!({ "kind": "host-defined" }),
    }
}

fn on_json(op: Op, generation: Gen) -> Value {
    let encoding = |it: &Encoding| json!({ "encoding": format_name(it, generation), "opcode": it.opcode });
    let counters = counted(op, generation).into_iter().map(|(form, Counters { vmcnt, expcnt, lgkmcnt })| {
        json!({ "form": form, "vmcnt": vmcnt, "expcnt": expcnt, "lgkmcnt": lgkmcnt })
    });
    json!({
        "names": names(op, generation),
        "targets": op.targets(generation).map(Target::name).collect::<Vec<_>>(),
        "encodings": op.encodings(generation).iter().map(encoding).collect::<Vec<_>>(),
        "implicit_reads": registers(&op.implicit_reads(generation)),
        "implicit_writes": registers(&op.implicit_writes()),
        "counters": counters.collect::<Vec<_>>(),
    })
}
