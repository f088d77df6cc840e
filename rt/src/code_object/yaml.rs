//! YAML, as much of it as code object version 2 writes its metadata in, to the values of msgpack: what reads one
//! metadata document reads both.
//!
//! The text is parsed event by event. There are no anchors in such documents; an alias is an error, so a document can't
//! become larger than its text.

use super::LoadError;
use rmpv::Value;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// A list or map that is not complete yet.
enum Open {
    List(Vec<Value>),
    /// The entries, and a key that waits for its value.
    Map(Vec<(Value, Value)>, Option<Value>),
}

/// Parses the first document of `text`; collections may nest `depth` deep.
pub(super) fn parse(text: &str, depth: usize) -> Result<Value, LoadError> {
    let bad = |what| LoadError::Metadata { path: "document".into(), what };
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|_| bad("is not YAML, or cut off"))?;
        let complete = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(close),
            Event::Alias(_) => return Err(bad("has an alias")),
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => None,
        };
        if open.len() > depth {
            return Err(bad("nests too deep"));
        }
        match (complete, open.last_mut()) {
            (None, _) => {}
            (Some(value), None) => return Ok(value),
            (Some(value), Some(Open::List(items))) => items.push(value),
            (Some(value), Some(Open::Map(entries, key))) => match key.take() {
                None => *key = Some(value),
                Some(key) => entries.push((key, value)),
            },
        }
    }
    Err(bad("is empty"))
}

fn close(collection: Open) -> Value {
    match collection {
        Open::List(items) => Value::Array(items),
        Open::Map(entries, _) => Value::Map(entries),
    }
}

/// A scalar's value: what is not quoted may be a number or a truth value.
fn scalar(text: &str, style: ScalarStyle) -> Option<Value> {
    let plain = style == ScalarStyle::Plain;
    Some(match text {
        "true" if plain => Value::Boolean(true),
        "false" if plain => Value::Boolean(false),
        _ => text.parse::<u64>().ok().filter(|_| plain).map_or_else(|| Value::from(text), Value::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_maps_nest() {
        let value = parse("---\nA: [ 1, 'two' ]\nB:\n  - C: true\n    D: '3'\n...\n", 8).unwrap();
        let map = |entries: Vec<(&str, Value)>| Value::Map(entries.into_iter().map(|(k, v)| (k.into(), v)).collect());
        let list = Value::Array(vec![1u64.into(), "two".into()]);
        let inner = map(vec![("C", true.into()), ("D", "3".into())]);
        assert_eq!(value, map(vec![("A", list), ("B", Value::Array(vec![inner]))]));
    }

    #[test]
    fn what_could_grow_is_refused() {
        for text in ["a: &x [1]\nb: *x", "[[[[[[[[[[1]]]]]]]]]]", "", "a: [", "'"] {
            assert!(parse(text, 4).is_err(), "{text}");
        }
    }
}
