//! Text to filetests.

use super::value;
use crate::case::{Case, Contents, Grid, Pointer, Register, Space, Start};
use crate::program::{Item, Label, Program, label_operand};
use gcnjit_isa::{Decoder, Inst, Target, asm};
use gcnjit_rt::wave::reg;
use gcnjit_rt::{Mode, Wave};
use std::ops::Range;

/// What is wrong with a filetest, and in which line, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Error {
    /// The line.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// Something that holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An SGPR, or a pair of them.
    Sgpr {
        /// The first, by operand code.
        first: u8,
        /// Whether it is a pair.
        wide: bool,
    },
    /// Lanes of a VGPR, or of a pair of them.
    Vgpr {
        /// The first.
        first: u8,
        /// Whether it is a pair.
        wide: bool,
        /// Which lanes.
        lanes: Range<u8>,
    },
    /// SCC.
    Scc,
    /// MODE.
    Mode,
    /// Dwords of a memory, from this byte on.
    Memory(Space, usize),
}

/// A line that gives a register or memory its value.
#[derive(Clone, Debug)]
struct Set {
    line: usize,
    wave: Option<usize>,
    place: Place,
    pointer: Option<Pointed>,
    values: Vec<u64>,
}

/// An address that is added to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pointed {
    to: Space,
    /// It counts units of 256 bytes, as image resources have it.
    resource: bool,
}

/// What a line expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The values of a place.
    Values(Place, Vec<u64>),
    /// How the program ends.
    End(String),
    /// That the lane IR of the first block has, or does not have, a text in it.
    Code {
        /// Whether it is there.
        present: bool,
        /// The text.
        text: String,
    },
}

impl What {
    /// Whether it is about what waves have, rather than the machine.
    fn is_of_waves(&self) -> bool {
        let What::Values(place, _) = self else { return false };
        !matches!(place, Place::Memory(space, _) if *space != Space::Lds)
    }
}

/// An expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Its line, from 1.
    pub line: usize,
    /// Of which wave it speaks.
    pub wave: usize,
    /// What it says.
    pub what: What,
}

/// A filetest.
#[derive(Clone, Debug, Default)]
pub struct Filetest {
    /// Where it is run.
    pub targets: Vec<Target>,
    /// What is expected.
    pub expects: Vec<Expect>,
    sets: Vec<Set>,
    waves: usize,
    launches: Vec<Grid>,
    program: Vec<(usize, String)>,
}

/// Reads a filetest.
///
/// # Errors
/// The first line that makes no sense. Instructions are read by [`Filetest::case`], for a target.
pub fn parse(source: &str) -> Result<Filetest, Error> {
    let (mut test, mut wave, mut running) = (Filetest { waves: 1, ..Filetest::default() }, None, false);
    for (line, text) in (1..).zip(source.lines()) {
        let text = text.split(';').next().unwrap_or("");
        let words = text.trim();
        let indented = text.starts_with(char::is_whitespace) || words.ends_with(':');
        let (keyword, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let wrong = |what: String| Error { line, what };
        match keyword {
            "" => {}
            _ if running && indented => test.program.push((line, words.to_owned())),
            "run" => running = true,
            "target" => test.targets.extend(targets(rest).map_err(wrong)?),
            "grid" => test.launches.push(grid(rest).ok_or_else(|| wrong(format!("'{rest}' is no grid")))?),
            "wave" => {
                let index = rest.trim().parse().ok().filter(|index| *index < 16);
                let index: usize = index.ok_or_else(|| wrong(format!("'{rest}' is no number of a wave")))?;
                test.waves = test.waves.max(index + 1);
                wave = Some(index);
            }
            "expect" => {
                running = false;
                let what = expectation(rest).map_err(wrong)?;
                test.expects.push(Expect { line, wave: wave.unwrap_or(0), what });
            }
            "set" | "mode" | "scc" | "memory" => {
                let text = match keyword {
                    "mode" | "scc" => format!("{keyword} = {rest}"),
                    _ => rest.to_owned(),
                };
                let (place, pointer, values) = assignment(&text).map_err(wrong)?;
                test.sets.push(Set { line, wave, place, pointer, values });
            }
            other => return Err(wrong(format!("'{other}' is nothing that a line begins with"))),
        }
    }
    if test.targets.is_empty() {
        return Err(Error { line: 1, what: "there is no target".to_owned() });
    }
    let unknown = test.expects.iter().find(|expect| !test.launches.is_empty() && expect.what.is_of_waves());
    match unknown {
        Some(Expect { line, .. }) => {
            Err(Error { line: *line, what: "of a grid only memory and the end are known".to_owned() })
        }
        None => Ok(test),
    }
}

/// `256x2x1 of 64x1x1`, each of one to three sizes.
fn grid(text: &str) -> Option<Grid> {
    let sizes = |text: &str| -> Option<[u32; 3]> {
        let given = text.trim().split('x').map(|size| size.parse().ok());
        let given = given.collect::<Option<Vec<u32>>>().filter(|given| given.len() <= 3)?;
        Some(std::array::from_fn(|d| given.get(d).copied().unwrap_or(1)))
    };
    let (items, group) = text.split_once(" of ")?;
    Some(Grid { items: sizes(items)?, group: sizes(group)? })
}

fn targets(text: &str) -> Result<Vec<Target>, String> {
    text.split_whitespace().map(|name| name.parse().map_err(|_| format!("'{name}' is no target"))).collect()
}

fn expectation(text: &str) -> Result<What, String> {
    let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let code = |present| What::Code { present, text: rest.trim().to_owned() };
    match keyword {
        "end" => Ok(What::End(rest.trim().to_owned())),
        "ir" => Ok(code(true)),
        "no-ir" => Ok(code(false)),
        _ => match assignment(text)? {
            (place, None, values) => Ok(What::Values(place, values)),
            _ => Err("an address can't be expected: it is another one each time".to_owned()),
        },
    }
}

type Assignment = (Place, Option<Pointed>, Vec<u64>);

/// `PLACE = VALUES`, `PLACE = &MEMORY + VALUES` or `PLACE = &MEMORY/256 + VALUES`.
fn assignment(text: &str) -> Result<Assignment, String> {
    let (left, right) = text.split_once('=').ok_or("there is no '='")?;
    let place = place(left.trim())?;
    let right = right.trim();
    let (pointer, values) = match right.strip_prefix('&') {
        None => (None, right),
        Some(rest) => {
            let (name, values) = rest.split_once('+').unwrap_or((rest, "0"));
            let (name, resource) = match name.trim().strip_suffix("/256") {
                Some(name) => (name, true),
                None => (name.trim(), false),
            };
            let space = Space::named(name).filter(|space| !matches!(space, Space::Lds | Space::Gds));
            let to = space.ok_or_else(|| format!("'{name}' has no address"))?;
            (Some(Pointed { to, resource }), values)
        }
    };
    let bits = |word: &str| value::bits(word).ok_or_else(|| format!("'{word}' is no value"));
    let values = values.split_whitespace().map(bits).collect::<Result<Vec<u64>, String>>()?;
    let wide = matches!(place, Place::Sgpr { wide: true, .. } | Place::Vgpr { wide: true, .. });
    if values.is_empty() {
        return Err("there is no value".to_owned());
    }
    if let Some(value) = values.iter().find(|value| !wide && (**value).cast_signed() >> 31 > 1) {
        return Err(format!("{value:#x} has more than 32 bits"));
    }
    if pointer.is_some_and(|pointed| pointed.resource) && !matches!(place, Place::Sgpr { .. }) {
        return Err("an image resource is in scalar registers".to_owned());
    }
    if pointer.is_some() && !wide {
        return Err("an address takes a pair of registers".to_owned());
    }
    Ok((place, pointer, values))
}

fn place(text: &str) -> Result<Place, String> {
    let wrong = || format!("'{text}' is no register and no place in memory");
    let pair = |first| Ok(Place::Sgpr { first, wide: true });
    match text {
        "vcc" => return pair(reg::VCC as u8),
        "exec" => return pair(reg::EXEC as u8),
        "flat_scratch" => return pair(102),
        "m0" => return Ok(Place::Sgpr { first: reg::M0 as u8, wide: false }),
        "scc" => return Ok(Place::Scc),
        "mode" => return Ok(Place::Mode),
        _ => {}
    }
    let memory = text.split_once('[').and_then(|(name, rest)| Some((Space::named(name)?, rest.strip_suffix(']')?)));
    if let Some((space, offset)) = memory {
        let offset = value::bits(offset.trim()).filter(|offset| *offset % 4 == 0 && offset + 4 <= space.size());
        return Ok(Place::Memory(space, offset.ok_or_else(wrong)? as usize));
    }
    let (kind, rest) = text.split_at_checked(1).ok_or_else(wrong)?;
    let (first, wide, lanes) = register(rest).ok_or_else(wrong)?;
    match (kind, lanes) {
        ("v", lanes) => Ok(Place::Vgpr { first, wide, lanes: lanes.unwrap_or(0..64) }),
        ("s", None) if first < 128 && !(wide && first == 127) => Ok(Place::Sgpr { first, wide }),
        _ => Err(wrong()),
    }
}

/// What follows `s` or `v`: `7`, `7[3]`, `7[0:3]`, `[4:5]`, `[4:5][0:3]`.
fn register(text: &str) -> Option<(u8, bool, Option<Range<u8>>)> {
    let range = |text: &str| -> Option<(u8, u8)> {
        let (first, last) = text.split_once(':').unwrap_or((text, text));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    let (first, wide, rest) = match text.strip_prefix('[') {
        Some(rest) => {
            let (pair, rest) = rest.split_once(']')?;
            let (first, last) = range(pair)?;
            (first, (last.checked_sub(first)? == 1).then_some(true)?, rest)
        }
        None => {
            let at = text.find('[').unwrap_or(text.len());
            (text[..at].parse().ok()?, false, &text[at..])
        }
    };
    let lanes = match rest.strip_prefix('[') {
        None => rest.is_empty().then_some(None)?,
        Some(rest) => {
            let (first, last) = range(rest.strip_suffix(']')?)?;
            Some((first <= last && last < 64).then_some(first..last + 1)?)
        }
    };
    Some((first, wide, lanes))
}

impl Filetest {
    /// The case for a target.
    ///
    /// # Errors
    /// The line of an instruction that the target does not have.
    pub fn case(&self, target: Target) -> Result<Case, Error> {
        let mut waves = Vec::new();
        for index in 0..self.waves {
            let mut start = Start { wave: Wave::new(), pointers: Vec::new() };
            start.wave.set_exec(u64::MAX);
            start.wave.index = index as u32;
            for set in self.sets.iter().filter(|set| set.wave.is_none_or(|wave| wave == index)) {
                set.apply(&mut start)?;
            }
            waves.push(start);
        }
        let mut contents = Contents::default();
        for Set { line, place, values, .. } in &self.sets {
            let Place::Memory(space, offset) = place else { continue };
            let room = contents.of_mut(*space)[*offset..].chunks_exact_mut(4);
            if room.len() < values.len() {
                return Err(Error { line: *line, what: format!("{} ends before the last value", space.name()) });
            }
            room.zip(values).for_each(|(bytes, value)| bytes.copy_from_slice(&(*value as u32).to_le_bytes()));
        }
        let launches = self.launches.clone();
        Ok(Case { target, program: self.program(target)?, waves, launches, contents })
    }

    fn program(&self, target: Target) -> Result<Program, Error> {
        let label = |text: &str| text.strip_suffix(':').map(str::to_owned);
        let names: Vec<String> = self.program.iter().filter_map(|(_, text)| label(text)).collect();
        let number = |name: &str| names.iter().position(|known| known == name).map(|at| at as Label + 1);
        let items = self.program.iter().map(|(line, text)| {
            let wrong = |what| Error { line: *line, what };
            match text.strip_suffix(':') {
                Some(name) => number(name).map(Item::Label).ok_or_else(|| wrong(format!("'{name}' is no label"))),
                None => item(text, target, number).map_err(wrong),
            }
        });
        items.collect()
    }
}

impl Set {
    fn apply(&self, start: &mut Start) -> Result<(), Error> {
        let (wave, value) = (&mut start.wave, self.values[0]);
        let at = match self.place {
            Place::Memory(..) => return Ok(()),
            Place::Scc => {
                wave.scc = value as u32 & 1;
                return Ok(());
            }
            Place::Mode => {
                wave.mode = Mode(value as u32);
                return Ok(());
            }
            Place::Sgpr { first, wide } => {
                wave.sgpr[usize::from(first)] = value as u32;
                if wide {
                    wave.set_sgpr64(first.into(), value);
                }
                match self.pointer {
                    Some(Pointed { resource: true, .. }) => Register::Resource(first),
                    _ => Register::Sgpr(first),
                }
            }
            Place::Vgpr { first, wide, ref lanes } => {
                for (lane, value) in lanes.clone().map(usize::from).zip(self.values.iter().cycle()) {
                    wave.vgpr[usize::from(first)][lane] = *value as u32;
                    if wide {
                        wave.vgpr[usize::from(first.wrapping_add(1))][lane] = (*value >> 32) as u32;
                    }
                }
                Register::Vgpr(first)
            }
        };
        let lanes = match &self.place {
            Place::Vgpr { lanes, .. } => lanes.clone().fold(0, |mask, lane| mask | 1 << lane),
            _ => 0,
        };
        // What was said of these lanes before no longer holds.
        start.pointers.iter_mut().filter(|pointer| pointer.at == at).for_each(|pointer| pointer.lanes &= !lanes);
        start.pointers.retain(|pointer| pointer.at != at || pointer.lanes != 0);
        start.pointers.extend(self.pointer.map(|Pointed { to, .. }| Pointer { at, lanes, to }));
        Ok(())
    }
}

/// An instruction: words, or text that may name a label.
fn item(text: &str, target: Target, number: impl Fn(&str) -> Option<Label>) -> Result<Item, String> {
    if let Some(words) = text.strip_prefix("words ") {
        return words_of(words, target).map(Item::Inst);
    }
    let parsed = |text: &str| asm::parse(text, target).map_err(|error| error.to_string());
    if let Some((before, rest)) = text.split_once("pcrel(") {
        let name = rest.strip_suffix(')').ok_or("there is no ')' at the end")?;
        let label = number(name).ok_or_else(|| format!("there is no label '{name}'"))?;
        return Ok(Item::Offset(parsed(&format!("{before}{:#x}", 1 << 20))?, label));
    }
    let last = text.rsplit([' ', ',', '\t']).next().unwrap_or("");
    if let Some(label) = number(last) {
        let inst = parsed(&format!("{}0", &text[..text.len() - last.len()]))?;
        return match label_operand(&inst) {
            Some(_) => Ok(Item::Jump(inst, label)),
            None => Err(format!("'{last}' is a label, and there is no place for one")),
        };
    }
    parsed(text).map(Item::Inst)
}

fn words_of(text: &str, target: Target) -> Result<Inst, String> {
    let words = text.split_whitespace().map(|word| value::bits(word).and_then(|bits| u32::try_from(bits).ok()));
    let words: Option<Vec<u32>> = words.collect();
    let inst = Decoder::new(target).decode(&words.ok_or("a word is no number of 32 bits")?);
    inst.map_err(|error| error.to_string())
}
