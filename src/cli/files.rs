//! `gcnjit diff A B`: the same launches with the code of two files, and their outputs compared.

use crate::cli::diff::Verdict;
use crate::cli::elements::{Distance, Element};
use crate::cli::exec::{Limits, Runner};
use crate::cli::failure::Failure;
use crate::cli::input::{Input, Opened};
use crate::cli::plan::Plan;
use crate::cli::progress::Progress;
use crate::cli::report::signature;
use gcnjit::{Device, Engine, Module};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// What may differ.
#[derive(clap::Args)]
pub struct Tolerance {
    /// With two files: floats may be N representable numbers apart.
    #[arg(long, value_name = "N", requires = "other", default_value_t = 0)]
    ulps: u64,
    /// With two files: elements may be X apart. One that is near enough by either measure is good.
    #[arg(long, value_name = "X", requires = "other", default_value_t = 0.0)]
    abs: f64,
    /// With two files: the type of the elements of all buffers, or of buffer N; u8 to u64, i8 to i64, f16, f32, f64.
    /// Without it, what the kernel's signature says.
    #[arg(long = "type", value_name = "[N=]TYPE", requires = "other", value_parser = typed)]
    types: Vec<(Option<usize>, Element)>,
}

/// `TYPE` or `N=TYPE`.
fn typed(text: &str) -> Result<(Option<usize>, Element), String> {
    match text.split_once('=') {
        None => Ok((None, text.parse()?)),
        Some((index, ty)) => Ok((Some(index.parse().map_err(|_| format!("'{index}' is no number"))?), ty.parse()?)),
    }
}

impl Tolerance {
    fn allows(&self, distance: Distance) -> bool {
        distance.absolute <= self.abs || distance.ulps.is_some_and(|ulps| ulps <= self.ulps)
    }

    /// The last that is said of a buffer counts.
    fn element(&self, index: usize, signature: &str) -> Element {
        let said = self.types.iter().rev().find(|(which, _)| which.is_none_or(|which| which == index));
        said.map_or_else(|| Element::of_pointer(signature), |(_, element)| *element)
    }
}

/// What a file's code left in a buffer.
struct Output {
    name: String,
    element: Element,
    bytes: Vec<u8>,
}

/// Two elements that differ more than they may.
#[derive(Clone, Copy)]
struct Pair {
    index: usize,
    bits: [u64; 2],
    distance: Distance,
}

/// Runs both files and compares all buffers.
pub fn compare(
    input: &Input,
    other: &str,
    tolerance: &Tolerance,
    deadline: Option<Duration>,
) -> Result<Verdict, Failure> {
    let limits = Limits { deadline, ..Limits::default() };
    let device = Device::new()?;
    let Opened { module, plan, .. } = input.open(&device)?;
    let first = outputs(&plan, &device, &module, tolerance, limits)?;
    let other_device = Device::new()?;
    let other_module = input.load(&other_device, other)?;
    let second = outputs(&plan, &other_device, &other_module, tolerance, limits)?;
    let (mut text, mut buffers, mut same) = (String::new(), Vec::new(), true);
    for (a, b) in first.iter().zip(&second) {
        let pairs = differing(a, b, tolerance);
        same &= pairs.is_empty();
        let _ = writeln!(text, "{}", line(a, &pairs));
        buffers.push(json(a, &pairs));
    }
    let targets = [module.target().name(), other_module.target().name()];
    let (left, right) = (module.name(), other_module.name());
    let verdict = if same { "agree" } else { "differ" };
    text.insert_str(0, &format!("{left} ({}) and {right} ({}) {verdict}\n", targets[0], targets[1]));
    Ok(Verdict { same, text, json: json!({ "ok": same, "files": [left, right], "gfx": targets, "buffers": buffers }) })
}

/// Runs the plan with a module's code.
fn outputs(
    plan: &Plan,
    device: &Device,
    module: &Module,
    tolerance: &Tolerance,
    limits: Limits,
) -> Result<Vec<Output>, Failure> {
    let runner = Runner::new(plan, device, module, limits)?;
    let prepared = runner.prepare(Engine::Jit)?;
    runner.restore();
    runner.repetition(&prepared, false, &Progress::new(0))?;
    let buffers = runner.buffers.iter().enumerate().map(|(index, buffer)| {
        let (signature, ty) = signature(&runner, plan, index);
        let name = format!("{}{signature}", plan.buffers[index].name);
        Output { name, element: tolerance.element(index, &ty), bytes: buffer.read() }
    });
    Ok(buffers.collect())
}

/// The elements that differ more than they may; what is left over at the end of a buffer counts as bytes.
fn differing(a: &Output, b: &Output, tolerance: &Tolerance) -> Vec<Pair> {
    let element = a.element;
    let size = element.size();
    let elements = a.bytes.chunks_exact(size).zip(b.bytes.chunks_exact(size)).enumerate();
    let pairs = elements.filter(|(_, (a, b))| a != b).map(|(index, (a, b))| {
        let bits = [element.bits(a), element.bits(b)];
        Pair { index, bits, distance: element.distance(bits[0], bits[1]) }
    });
    pairs.filter(|pair| !tolerance.allows(pair.distance)).collect()
}

/// The pair that is farthest apart, the first of those.
fn worst(pairs: &[Pair]) -> Option<&Pair> {
    let key = |pair: &Pair| pair.distance.ulps.map_or(pair.distance.absolute, |ulps| ulps as f64);
    pairs.iter().reduce(|worst, pair| if key(pair) > key(worst) { pair } else { worst })
}

fn line(output: &Output, pairs: &[Pair]) -> String {
    let count = output.bytes.len() / output.element.size();
    let (Some(first), Some(worst)) = (pairs.first(), worst(pairs)) else {
        return format!("{}: {count} elements are the same, or near enough", output.name);
    };
    let text = |pair: &Pair| {
        let [a, b] = pair.bits.map(|bits| output.element.text(bits));
        let apart = match pair.distance.ulps {
            Some(u64::MAX) => "NaN and a number".to_owned(),
            Some(ulps) => format!("{ulps} ulps, {:e} apart", pair.distance.absolute),
            None => format!("{} apart", pair.distance.absolute),
        };
        format!("element {}: {a} and {b}, {apart}", pair.index)
    };
    let (name, differing) = (&output.name, pairs.len());
    format!("{name}: {differing} of {count} elements differ\n  first  {}\n  worst  {}", text(first), text(worst))
}

fn json(output: &Output, pairs: &[Pair]) -> Value {
    let pair = |pair: &Pair| {
        let [a, b] = pair.bits.map(|bits| output.element.text(bits));
        let Distance { absolute, ulps } = pair.distance;
        json!({ "index": pair.index, "values": [a, b], "bits": pair.bits, "absolute": absolute, "ulps": ulps })
    };
    json!({
        "name": output.name,
        "elements": output.bytes.len() / output.element.size(),
        "differing": pairs.len(),
        "first": pairs.first().map(pair),
        "worst": worst(pairs).map(pair),
    })
}
