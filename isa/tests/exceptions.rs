//! docs/fidelity.md has the table of exceptions: which rows raise which, and what says so. `BLESS=1` writes it.

use std::collections::{BTreeMap, BTreeSet};

use gcnjit_isa::{Exceptions, Op};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/fidelity.md");
const START: &str = "<!-- exceptions: written by BLESS=1 cargo test -p gcnjit-isa --test exceptions -->\n";
const END: &str = "<!-- end of exceptions -->";

/// A mnemonic; of a comparison the pattern of those that differ by the relation.
fn pattern(op: Op) -> String {
    let name = op.info().name;
    let parts: Vec<&str> = name.split('_').collect();
    match (op, &parts[..]) {
        (Op::Vopc(_), [v, compare, relation, ty]) if *relation != "class" => format!("{v}_{compare}_*_{ty}"),
        _ => name.to_owned(),
    }
}

fn is_vector_float(op: Op) -> bool {
    let info = op.info();
    let alu = matches!(op, Op::Vop1(_) | Op::Vop2(_) | Op::Vop3(_) | Op::Vop3p(_) | Op::Vopc(_));
    alu && info.executed && info.dsts.iter().chain(info.srcs).any(|ty| ty.is_float())
}

fn table() -> String {
    let mut groups: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for op in Op::all().filter(|op| is_vector_float(*op)) {
        let key = (op.exceptions().bits(), op.exceptions_by().to_string());
        groups.entry(key).or_default().insert(pattern(op));
    }
    let lines = groups.into_iter().map(|((bits, by), rows)| {
        let rows: Vec<String> = rows.into_iter().collect();
        format!("| {} | {by} | {} |\n", Exceptions::of(bits), rows.join(", "))
    });
    "| raises | says | rows |\n|---|---|---|\n".to_owned() + &lines.collect::<String>()
}

#[test]
fn the_document_has_every_row() {
    let document = std::fs::read_to_string(PATH).expect("docs/fidelity.md");
    let (before, rest) = document.split_once(START).expect("the start of the table");
    let (written, after) = rest.split_once(END).expect("the end of the table");
    if std::env::var("BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(PATH, format!("{before}{START}{}{END}{after}", table())).expect("the document can be written");
        return;
    }
    assert!(written == table(), "BLESS=1 cargo test -p gcnjit-isa --test exceptions writes the table:\n{}", table());
}

/// A row that takes no float and makes none raises nothing; names are those of the bits.
#[test]
fn integers_raise_nothing() {
    for op in Op::all().filter(|op| !is_vector_float(*op)) {
        assert!(op.exceptions().is_empty(), "{}", op.info().name);
    }
    assert_eq!(Exceptions::ALL.names().count(), 7);
    assert_eq!((Exceptions::INVALID | Exceptions::INEXACT).to_string(), "invalid, inexact");
    assert_eq!(Exceptions::NONE.to_string(), "none");
}
