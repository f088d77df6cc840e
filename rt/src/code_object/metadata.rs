//! The document in an HSA code object's note: what it says about each kernel. It is msgpack, in version 2 YAML with
//! other names.

use super::{Access, Arg, ArgKind, Hidden, LoadError, Service, yaml};
use crate::printf::Message;
use rmpv::Value;
use std::collections::BTreeMap;

/// How deep the document may nest. Real ones nest five levels.
const DEPTH: usize = 16;

/// What the metadata says.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub kernels: Vec<KernelMetadata>,
    /// What kernels print.
    pub printf: Vec<Message>,
}

/// What the metadata says about a kernel.
#[derive(Debug, Default)]
pub(super) struct KernelMetadata {
    pub name: String,
    pub symbol: String,
    pub args: Vec<Arg>,
    pub required_group: Option<[u32; 3]>,
    pub max_group: Option<u32>,
    pub sgprs: Option<u32>,
    pub vgprs: Option<u32>,
    pub dynamic_stack: bool,
}

/// Parses the note's descriptor.
pub(super) fn parse(document: &[u8]) -> Result<Metadata, LoadError> {
    let root = rmpv::decode::read_value_with_max_depth(&mut &document[..], DEPTH)
        .map_err(|_| LoadError::Metadata { path: "document".into(), what: "is not msgpack, or cut off" })?;
    let root = Node { value: &root, path: "document".into() };
    Ok(Metadata {
        kernels: root.list("amdhsa.kernels", kernel_metadata)?,
        printf: root.list("amdhsa.printf", message)?,
    })
}

/// What PAL's note says of a pipeline.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    pub stages: Vec<PalStage>,
    /// Hardware registers by number.
    pub registers: BTreeMap<u32, u32>,
}

/// A shader of a pipeline.
#[derive(Debug)]
pub(super) struct PalStage {
    pub name: String,
    /// The symbol of its code.
    pub entry: String,
    /// Bytes of scratch a lane.
    pub scratch: u32,
}

/// Parses PAL's note, which has one pipeline.
pub(super) fn parse_pal(document: &[u8]) -> Result<Pipeline, LoadError> {
    let root = rmpv::decode::read_value_with_max_depth(&mut &document[..], DEPTH)
        .map_err(|_| LoadError::Metadata { path: "document".into(), what: "is not msgpack, or cut off" })?;
    let root = Node { value: &root, path: "document".into() };
    let pipelines = root.require("amdpal.pipelines")?;
    let mut items = pipelines.items()?;
    let (Some(pipeline), None) = (items.next(), items.next()) else {
        return Err(pipelines.bad("has not one pipeline"));
    };
    let mut found = Pipeline::default();
    for (name, stage) in pipeline.entries(".hardware_stages")? {
        let name = name.as_str().ok_or_else(|| stage.bad("has a name that is not text"))?.to_owned();
        let entry = stage.require(".entry_point")?.text()?.to_owned();
        found.stages.push(PalStage { name, entry, scratch: stage.number(".scratch_memory_size")?.unwrap_or(0) });
    }
    for (number, value) in pipeline.entries(".registers")? {
        let number = number.as_u64().and_then(|number| u32::try_from(number).ok());
        found.registers.insert(number.ok_or_else(|| value.bad("has a number that is none"))?, value.u32()?);
    }
    Ok(found)
}

/// Parses the note's descriptor in version 2.
pub(super) fn parse_v2(document: &[u8]) -> Result<Metadata, LoadError> {
    let path = || "document".to_owned();
    let text = document.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = str::from_utf8(text).map_err(|_| LoadError::Metadata { path: path(), what: "is not text" })?;
    let root = Node { value: &yaml::parse(text, DEPTH)?, path: path() };
    Ok(Metadata { kernels: root.list("Kernels", kernel_metadata_v2)?, printf: root.list("Printf", message)? })
}

fn message(node: &Node<'_>) -> Result<Message, LoadError> {
    Message::parse(node.text()?).map_err(|what| node.bad(what))
}

fn kernel_metadata_v2(node: &Node<'_>) -> Result<KernelMetadata, LoadError> {
    let name = node.require("Name")?.text()?.to_owned();
    let mut end = 0;
    let args = node.list("Args", |arg| argument_v2(arg, &mut end))?;
    let attributes = node.get("Attrs")?;
    let within = |outer: &Option<Node<'_>>, key: &str| match outer {
        Some(outer) => outer.number(key),
        None => Ok(None),
    };
    let properties = node.get("CodeProps")?;
    let required = attributes.as_ref().map(|node| node.get("ReqdWorkGroupSize")).transpose()?.flatten();
    Ok(KernelMetadata {
        symbol: name.clone(),
        name,
        args,
        required_group: required.map(|size| size.triple()).transpose()?,
        max_group: within(&properties, "MaxFlatWorkGroupSize")?,
        sgprs: within(&properties, "NumSGPRs")?,
        vgprs: within(&properties, "NumVGPRs")?,
        dynamic_stack: false,
    })
}

/// An argument of version 2, which says no offsets: each is where the one before ended, at `end`, and aligned.
fn argument_v2(node: &Node<'_>, end: &mut u32) -> Result<Arg, LoadError> {
    let kind = node.require("ValueKind")?;
    let size = node.require("Size")?.u32()?;
    let align = node.require("Align")?.u32()?;
    let offset = Some(align).filter(|align| align.is_power_of_two()).and_then(|align| {
        let offset = end.checked_next_multiple_of(align)?;
        *end = offset.checked_add(size)?;
        Some(offset)
    });
    Ok(Arg {
        name: node.string("Name")?,
        type_name: node.string("TypeName")?,
        offset: offset.ok_or_else(|| node.bad("has a size or alignment that can't be"))?,
        size,
        kind: arg_kind(&snake_case(kind.text()?)).ok_or_else(|| kind.bad("is an unknown kind of argument"))?,
        align: node.number("PointeeAlign")?.unwrap_or(1).max(1),
        access: access(node, ["ActualAccQual", "AccQual"])?,
    })
}

/// `HiddenGlobalOffsetX` as `hidden_global_offset_x`: what the later versions call the same.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn kernel_metadata(node: &Node<'_>) -> Result<KernelMetadata, LoadError> {
    Ok(KernelMetadata {
        name: node.require(".name")?.text()?.to_owned(),
        symbol: node.require(".symbol")?.text()?.to_owned(),
        args: node.list(".args", argument)?,
        required_group: node.get(".reqd_workgroup_size")?.map(|size| size.triple()).transpose()?,
        max_group: node.number(".max_flat_workgroup_size")?,
        sgprs: node.number(".sgpr_count")?,
        vgprs: node.number(".vgpr_count")?,
        dynamic_stack: matches!(node.get(".uses_dynamic_stack")?, Some(Node { value: Value::Boolean(true), .. })),
    })
}

fn argument(node: &Node<'_>) -> Result<Arg, LoadError> {
    let kind = node.require(".value_kind")?;
    Ok(Arg {
        name: node.string(".name")?,
        type_name: node.string(".type_name")?,
        offset: node.require(".offset")?.u32()?,
        size: node.require(".size")?.u32()?,
        kind: arg_kind(kind.text()?).ok_or_else(|| kind.bad("is an unknown kind of argument"))?,
        align: node.number(".pointee_align")?.unwrap_or(1).max(1),
        access: access(node, [".actual_access", ".access"])?,
    })
}

fn access(node: &Node<'_>, keys: [&str; 2]) -> Result<Access, LoadError> {
    let [first, second] = keys;
    let Some(access) = node.get(first)?.or(node.get(second)?) else { return Ok(Access::ReadWrite) };
    Ok(match access.text()? {
        "read_only" | "ReadOnly" => Access::ReadOnly,
        "write_only" | "WriteOnly" => Access::WriteOnly,
        _ => Access::ReadWrite,
    })
}

fn arg_kind(name: &str) -> Option<ArgKind> {
    Some(match name {
        "by_value" => ArgKind::Value,
        "global_buffer" => ArgKind::Buffer,
        "dynamic_shared_pointer" => ArgKind::DynamicLds,
        "sampler" | "image" | "pipe" | "queue" => ArgKind::Object,
        _ => ArgKind::Hidden(hidden(name.strip_prefix("hidden_")?)),
    })
}

fn hidden(name: &str) -> Hidden {
    let dimension = ["_x", "_y", "_z"].iter().position(|suffix| name.ends_with(suffix));
    match (name.trim_end_matches(['x', 'y', 'z']), dimension) {
        ("global_offset_", Some(d)) => Hidden::GlobalOffset(d),
        ("block_count_", Some(d)) => Hidden::BlockCount(d),
        ("group_size_", Some(d)) => Hidden::GroupSize(d),
        ("remainder_", Some(d)) => Hidden::Remainder(d),
        ("grid_dims", _) => Hidden::GridDims,
        ("private_base", _) => Hidden::PrivateBase,
        ("shared_base", _) => Hidden::SharedBase,
        ("dynamic_lds_size", _) => Hidden::DynamicLdsSize,
        ("queue_ptr", _) => Hidden::QueuePtr,
        ("printf_buffer", _) => Hidden::PrintfBuffer,
        ("hostcall_buffer", _) => Hidden::Absent(Service::Hostcall),
        ("heap_v1", _) => Hidden::Absent(Service::Heap),
        ("default_queue", _) => Hidden::Absent(Service::DefaultQueue),
        ("completion_action", _) => Hidden::Absent(Service::CompletionAction),
        // Zero says that this launch is not one of several on several devices, which is true.
        ("none" | "multigrid_sync_arg", _) => Hidden::Zero,
        _ => Hidden::Absent(Service::Unknown),
    }
}

/// A value of the document and how to find it.
struct Node<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Node<'a> {
    fn bad(&self, what: &'static str) -> LoadError {
        LoadError::Metadata { path: self.path.clone(), what }
    }

    fn get(&self, key: &str) -> Result<Option<Node<'a>>, LoadError> {
        let map = self.value.as_map().ok_or_else(|| self.bad("is not a map"))?;
        let found = map.iter().find(|(k, _)| k.as_str() == Some(key));
        Ok(found.map(|(_, value)| Node { value, path: format!("{}/{key}", self.path) }))
    }

    fn require(&self, key: &'static str) -> Result<Node<'a>, LoadError> {
        self.get(key)?.ok_or_else(|| LoadError::Metadata { path: format!("{}/{key}", self.path), what: "is missing" })
    }

    /// Keys and values of the map at `key`; none if there is no such map.
    fn entries(&self, key: &str) -> Result<Vec<(&'a Value, Node<'a>)>, LoadError> {
        let Some(node) = self.get(key)? else { return Ok(Vec::new()) };
        let map = node.value.as_map().ok_or_else(|| node.bad("is not a map"))?;
        let entry = |(key, value): &'a (Value, Value)| (key, Node { value, path: format!("{}/{key}", node.path) });
        Ok(map.iter().map(entry).collect())
    }

    fn number(&self, key: &str) -> Result<Option<u32>, LoadError> {
        self.get(key)?.map(|value| value.u32()).transpose()
    }

    fn string(&self, key: &str) -> Result<Option<String>, LoadError> {
        self.get(key)?.map(|value| value.text().map(str::to_owned)).transpose()
    }

    fn items(&self) -> Result<impl Iterator<Item = Node<'a>> + '_, LoadError> {
        let array = self.value.as_array().ok_or_else(|| self.bad("is not an array"))?;
        Ok(array.iter().enumerate().map(|(i, value)| Node { value, path: format!("{}/{i}", self.path) }))
    }

    /// The items of the array at `key`, if there is one.
    fn list<T>(&self, key: &str, item: impl FnMut(&Node<'_>) -> Result<T, LoadError>) -> Result<Vec<T>, LoadError> {
        let mut item = item;
        match self.get(key)? {
            Some(array) => array.items()?.map(|node| item(&node)).collect(),
            None => Ok(Vec::new()),
        }
    }

    fn u32(&self) -> Result<u32, LoadError> {
        self.value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| self.bad("is not a 32-bit number"))
    }

    fn text(&self) -> Result<&'a str, LoadError> {
        self.value.as_str().ok_or_else(|| self.bad("is not text"))
    }

    fn triple(&self) -> Result<[u32; 3], LoadError> {
        let sizes = self.items()?.map(|size| size.u32()).collect::<Result<Vec<_>, _>>()?;
        sizes.try_into().map_err(|_| self.bad("is not three numbers"))
    }
}
