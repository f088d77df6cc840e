//! Rows in memory, outside of the segments' loops: libcalls on them, indexed registers, single lanes.

use super::Lower;
use crate::lane::{Node, Op, Shape, Value};
use crate::libcall;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData};
use gcnjit_rt::{Row, Wave};
use std::mem::{offset_of, size_of};

impl Lower<'_, '_> {
    /// Runs a libcall on rows.
    pub(super) fn call(&mut self, value: Value, rank: usize) {
        let node = *self.block.node(value);
        let destination = self.slot(value);
        let mut args = vec![destination];
        for (i, arg) in node.args().enumerate() {
            let row = self.row(arg, rank, i);
            args.push(row);
        }
        args.resize(4, destination);
        let helper = &libcall::TABLE[node.row_op() as usize];
        args.push(self.fb.ins().iconst(I64, (node.imm >> 32) as i64));
        self.call_host(helper.name, helper.address(), &args, None);
    }

    /// The address of the row, or pair of rows, that a lane value has in memory; uniform values are spread out.
    pub(super) fn row(&mut self, value: Value, rank: usize, scratch: usize) -> ir::Value {
        let node = *self.block.node(value);
        if node.shape == Shape::Uniform {
            return self.spread_to_scratch(value, scratch);
        }
        if node.op == Op::Vgpr && self.plan.in_file_for_scalars(value, rank) {
            let offset = offset_of!(Wave, vgpr) + (node.imm & 0xff) as usize * size_of::<Row>();
            return self.fb.ins().iadd_imm_s(self.wave, offset as i64);
        }
        self.slot(value)
    }

    /// Copies the row of an indexed VGPR to its slot.
    pub(super) fn vgpr_at(&mut self, value: Value) {
        let node = *self.block.node(value);
        let (slot, row) = (self.slot(value), self.indexed_row(&node, node.args[0]));
        self.call_host("copy", libcall::copy() as *const () as usize, &[slot, row], None);
    }

    /// Fills the slot of a row from LDS.
    pub(super) fn lds_row(&mut self, value: Value) {
        let node = *self.block.node(value);
        let (slot, m0) = (self.slot(value), self.uniform(node.args[0]));
        let row = self.fb.ins().iconst(I32, node.imm as u32 as i64);
        self.call_host("lds_row", libcall::lds_row as *const () as usize, &[slot, self.context, m0, row], None);
    }

    /// Blends a row into an indexed VGPR.
    pub(super) fn set_vgpr_at(&mut self, node: &Node, rank: usize) {
        let (source, mask) = (self.row(node.args[0], rank, 0), self.uniform(node.args[1]));
        let row = self.indexed_row(node, node.args[2]);
        self.call_host("blend", libcall::blend() as *const () as usize, &[row, source, mask], None);
    }

    /// The address of VGPR `imm` + `index`, modulo the register file.
    pub(super) fn indexed_row(&mut self, node: &Node, index: Value) -> ir::Value {
        let index = self.uniform(index);
        let register = self.fb.ins().iadd_imm_s(index, (node.imm & 0xff) as i64);
        let register = self.fb.ins().band_imm_u(register, 255);
        let register = self.fb.ins().uextend(I64, register);
        let offset = self.fb.ins().imul_imm_u(register, size_of::<Row>() as i64);
        let row = self.fb.ins().iadd(self.wave, offset);
        self.fb.ins().iadd_imm_s(row, offset_of!(Wave, vgpr) as i64)
    }

    /// The address of SGPR `imm` + `index`, which is in the register file whatever the index.
    pub(super) fn indexed_sgpr(&mut self, node: &Node, index: Value) -> ir::Value {
        let index = self.uniform(index);
        let register = self.fb.ins().iadd_imm_s(index, (node.imm & 0xff) as i64);
        let register = self.fb.ins().band_imm_u(register, 127);
        let register = self.fb.ins().uextend(I64, register);
        let offset = self.fb.ins().ishl_imm_u(register, 2);
        let address = self.fb.ins().iadd(self.wave, offset);
        self.fb.ins().iadd_imm_s(address, offset_of!(Wave, sgpr) as i64)
    }

    /// The address of the slot of a row.
    pub(super) fn slot(&mut self, value: Value) -> ir::Value {
        self.frame_at(self.plan.slot(value) * size_of::<Row>())
    }

    /// The address of a lane, modulo 64, of a row of dwords.
    fn lane_address(&mut self, row: ir::Value, lane: Value) -> ir::Value {
        let lane = self.uniform(lane);
        let lane = self.fb.ins().band_imm_u(lane, 63);
        let lane = self.fb.ins().uextend(I64, lane);
        let offset = self.fb.ins().ishl_imm_u(lane, 2);
        self.fb.ins().iadd(row, offset)
    }

    /// Reads a lane of a row.
    pub(super) fn read_lane(&mut self, value: Value, rank: usize) {
        let node = *self.block.node(value);
        let result = if self.block.node(node.args[0]).shape == Shape::Uniform {
            self.uniform(node.args[0])
        } else {
            let row = self.row(node.args[0], rank, 0);
            let (address, offset) = match self.block.as_const(node.args[1]) {
                Some(lane) => (row, (lane & 63) as i32 * 4),
                None => (self.lane_address(row, node.args[1]), 0),
            };
            let extended = self.fb.ins().uload32(MemFlagsData::trusted(), address, offset);
            self.narrow(value, extended)
        };
        self.uniform[value.index()] = Some(result);
    }
}
