//! Messages against the C library, and printf buffers that hold what no printf wrote.

use gcnjit_rt::Memory;
use gcnjit_rt::printf::{BadRecord, Buffer, Message, Printed};
use proptest::prelude::*;
use std::ffi::{CString, c_char, c_int};

unsafe extern "C" {
    fn snprintf(buffer: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
}

/// A value as C passes it.
#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i32),
    Long(i64),
    Double(f64),
}

/// What the C library makes of a format with one conversion.
fn c_text(format: &str, value: Value) -> Vec<u8> {
    let format = CString::new(format).unwrap();
    let mut text = vec![0u8; 8192];
    let (to, size) = (text.as_mut_ptr().cast(), text.len());
    // SAFETY: the format has one conversion, for a value of the kind that is passed, and the buffer has the size given.
    let written = unsafe {
        match value {
            Value::Int(x) => snprintf(to, size, format.as_ptr(), x),
            Value::Long(x) => snprintf(to, size, format.as_ptr(), x),
            Value::Double(x) => snprintf(to, size, format.as_ptr(), x),
        }
    };
    text.truncate(usize::try_from(written).unwrap());
    text
}

/// Puts `records` where a kernel would, and collects the messages.
fn print(messages: &[Message], records: &[u8], size: u32) -> (Vec<Vec<u8>>, Result<Printed, BadRecord>) {
    let memory = Memory::with_arena(1 << 30).unwrap();
    let buffer = Buffer::new(&memory, size).unwrap();
    let mut head = [0; 8];
    memory.read(buffer.address(), &mut head).unwrap();
    assert_eq!(head[4..], size.max(8).to_le_bytes());
    memory.write(buffer.address(), &(records.len() as u32).to_le_bytes()).unwrap();
    let room = records.len().min(size as usize - 8);
    memory.write(buffer.address() + 8, &records[..room]).unwrap();
    let mut texts = Vec::new();
    let result = buffer.print(messages, &mut |text| texts.push(text.to_vec()));
    (texts, result)
}

fn our_text(format: &str, value: Value) -> Vec<u8> {
    let bytes = match value {
        Value::Int(x) => x.to_le_bytes().to_vec(),
        Value::Long(x) => x.to_le_bytes().to_vec(),
        Value::Double(x) => x.to_le_bytes().to_vec(),
    };
    let message = Message::parse(&format!("1:1:{}:{format}", bytes.len())).unwrap();
    let (texts, result) = print(&[message], &[1u32.to_le_bytes().to_vec(), bytes].concat(), 64);
    result.unwrap();
    texts.concat()
}

fn a_style() -> impl Strategy<Value = String> {
    let flags = prop::collection::vec(prop::sample::select(vec!["-", "+", " ", "#", "0"]), 0..4);
    let width = prop_oneof![Just(String::new()), (1usize..40).prop_map(|width| width.to_string())];
    let precision = prop_oneof![
        Just(String::new()),
        Just(".".to_owned()),
        (0usize..30).prop_map(|precision| format!(".{precision}"))
    ];
    (flags, width, precision).prop_map(|(flags, width, precision)| format!("{}{width}{precision}", flags.concat()))
}

/// All bits, numbers with few digits, ties and powers of two and ten, special values.
fn a_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-100_000i32..100_000, 0i32..6).prop_map(|(x, digits)| f64::from(x) / 10f64.powi(digits)),
        (-4000i32..4000).prop_map(|x| f64::from(x) / 16.0),
        (-300i32..300).prop_map(|exponent| 10f64.powi(exponent)),
        (-1074i32..1023).prop_map(|exponent| 2f64.powi(exponent)),
        prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 9.5, 0.5]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn integers_are_what_c_makes_of_them(
        style in a_style(),
        letter in prop::sample::select(vec!["d", "i", "u", "o", "x", "X"]),
        length in prop::sample::select(vec!["", "hh", "h", "l"]),
        x in prop_oneof![any::<i64>(), -300i64..300],
    ) {
        let value = if length == "l" { Value::Long(x) } else { Value::Int(x as i32) };
        let format = format!("%{style}{length}{letter}");
        prop_assert_eq!(
            String::from_utf8(our_text(&format, value)).unwrap(),
            String::from_utf8(c_text(&format, value)).unwrap(),
            "{} of {:?}", format, value
        );
    }

    #[test]
    fn floats_are_what_c_makes_of_them(
        style in a_style(),
        letter in prop::sample::select(vec!["f", "F", "e", "E", "g", "G", "a", "A"]),
        x in a_double(),
    ) {
        let (format, value) = (format!("%{style}{letter}"), Value::Double(x));
        prop_assert_eq!(
            String::from_utf8(our_text(&format, value)).unwrap(),
            String::from_utf8(c_text(&format, value)).unwrap(),
            "{} of {:?}", format, value
        );
    }

    #[test]
    fn a_buffer_can_hold_anything(
        records in prop::collection::vec(any::<u8>(), 0..200),
        small in prop::collection::vec(prop_oneof![Just(1u32), Just(2), 0u32..100], 0..30),
        hashed in any::<bool>(),
    ) {
        let entries: &[&str] = match hashed {
            true => &["0:0:0000000100000001,%s %d\n", "0:0:ffffffff,"],
            false => &["1:2:4:8:%d %s", "2:1:16:%v4hlf %*d"],
        };
        let messages: Vec<Message> = entries.iter().map(|entry| Message::parse(entry).unwrap()).collect();
        for records in [records, small.iter().flat_map(|x| x.to_le_bytes()).collect()] {
            let (texts, result) = print(&messages, &records, 128);
            match result {
                Ok(printed) => prop_assert_eq!(printed.messages, texts.len() as u64),
                Err(BadRecord { at, .. }) => prop_assert!(at < records.len()),
            }
        }
    }
}

#[test]
fn records_that_no_printf_wrote_are_refused() {
    let messages = [Message::parse("7:1:4:%d").unwrap()];
    let record = |id: u32| [id.to_le_bytes(), 5u32.to_le_bytes()].concat();
    let (texts, result) = print(&messages, &[record(7), record(8)].concat(), 100);
    assert_eq!((texts, result), (vec![b"5".to_vec()], Err(BadRecord { at: 8, what: "names no message" })));
    let (_, result) = print(&messages, &[record(7), vec![7, 0, 0, 0, 1]].concat(), 100);
    assert_eq!(result, Err(BadRecord { at: 8, what: "is cut off" }));
    let hashed = [Message::parse("0:0:12,x%d\n").unwrap()];
    let control = |size: u32| [(size << 2 | 2).to_le_bytes().to_vec(), 0x12u64.to_le_bytes().to_vec()].concat();
    let (texts, result) = print(&hashed, &control(12), 100);
    assert_eq!((texts, result), (vec![b"x%d\n".to_vec()], Ok(Printed { messages: 1, full: false })));
    for size in [0, 3, 13, u32::MAX >> 2] {
        assert_eq!(print(&hashed, &control(size), 100).1, Err(BadRecord { at: 0, what: "is cut off" }));
    }
    // A kernel that wrote nonsense where the buffer counts what is used gets no further than the buffer.
    let (texts, result) = print(&messages, &vec![7; 4000], 16);
    assert!(texts.is_empty() && result.is_err());
}

#[test]
fn what_is_no_conversion_stays() {
    let text = |entry: &str| {
        let message = Message::parse(entry).unwrap();
        let record = [1u32.to_le_bytes().to_vec(), 65u64.to_le_bytes().to_vec()].concat();
        let (texts, _) = print(&[message], &record[..], 64);
        String::from_utf8(texts.concat()).unwrap()
    };
    assert_eq!(text("1:1:8:%y %v5d %% %ld %d %"), "%y %v5d % 65 %d %");
    assert_eq!(text("1:1:8:a\\72b\\n\\q%p"), "a:b\n\\q0x41");
    assert_eq!(text("1:1:8:%99999999lu|").len(), 4096);
    // An argument without a conversion has no size.
    let message = Message::parse("1:1:text").unwrap();
    assert_eq!(print(&[message], &1u32.to_le_bytes(), 64).0, [b"text"]);
}

#[test]
fn entries_that_are_none_are_refused() {
    for entry in ["", "1", "1:", "x:1:4:%d", "1:x:%d", "1:1:4:4:%d", "1:1:0:%d", "1:1:99999999:%d", "0:0:12", "0:0:g,x"]
    {
        assert!(Message::parse(entry).is_err(), "{entry}");
    }
}
