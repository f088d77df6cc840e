//! Calls of the host and of the wider back end's code, and memory accesses, which are such calls.

use super::Lower;
use crate::fenv;
use crate::lane::Fenv;
use crate::libcall;
use crate::pass::scalar_loads::ScalarLoads;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature};

impl Lower<'_, '_> {
    /// Switches MXCSR if the environment needs another value than the one in force.
    pub(super) fn set_fenv(&mut self, fenv: Fenv) {
        let (old, new) = (fenv::mxcsr(self.mode, self.fenv), fenv::mxcsr(self.mode, fenv));
        self.fenv = fenv;
        if old != new {
            let word = self.fb.ins().iconst(I32, i64::from(new));
            self.call_host("set_mxcsr", libcall::set_mxcsr as *const () as usize, &[word], None);
        }
    }

    /// Calls the host function `name` of the C ABI.
    pub(super) fn call_host(
        &mut self,
        name: &'static str,
        address: usize,
        args: &[ir::Value],
        result: Option<ir::Type>,
    ) -> Option<ir::Value> {
        *self.counts.libcalls.entry(name).or_default() += 1;
        self.call_address(address, args, result)
    }

    /// Calls a function of the C ABI.
    pub(super) fn call_address(
        &mut self,
        address: usize,
        args: &[ir::Value],
        result: Option<ir::Type>,
    ) -> Option<ir::Value> {
        let mut signature = Signature::new(self.call_conv);
        signature.params.extend(args.iter().map(|arg| AbiParam::new(self.fb.func.dfg.value_type(*arg))));
        signature.returns.extend(result.map(AbiParam::new));
        let known = self.fb.func.dfg.signatures.iter().find(|(_, known)| **known == signature);
        let known = known.map(|(known, _)| known);
        let signature = known.unwrap_or_else(|| self.fb.import_signature(signature));
        let callee = self.fb.ins().iconst(I64, address as i64);
        let call = self.fb.ins().call_indirect(signature, callee, args);
        self.fb.inst_results(call).first().copied()
    }

    /// A memory access, which may fault: the wider back end's function, if there is one, else a libcall.
    pub(super) fn access(&mut self, index: usize) {
        let status = match self.wide.and_then(|code| code.access(self.index, index)) {
            Some(address) => self.call_host("access", address, &[self.wave, self.context], Some(I32)),
            None => {
                let [access, site] = self.access_arguments(index);
                let args = [self.wave, self.context, access, site];
                self.call_host("access", libcall::access as *const () as usize, &args, Some(I32))
            }
        };
        let next = self.fb.create_block();
        self.leave_if_bad(status, next);
        self.fb.switch_to_block(next);
    }

    /// Calls the host for scalar loads.
    pub(super) fn call_scalar_loads(&mut self, loads: &ScalarLoads) -> Option<ir::Value> {
        let [first, site] = self.access_arguments(loads.first);
        let loads = self.fb.ins().iconst(I64, std::ptr::from_ref(loads) as i64);
        let args = [self.wave, self.context, loads, first, site];
        self.call_host("scalar_loads", libcall::scalar_loads as *const () as usize, &args, Some(I32))
    }

    /// An access, and the number of its site.
    fn access_arguments(&mut self, index: usize) -> [ir::Value; 2] {
        let access = self.fb.ins().iconst(I64, std::ptr::from_ref(&self.block.accesses[index]) as i64);
        [access, self.fb.ins().iconst(I32, (self.first_site + index) as i64)]
    }

    /// Leaves the function if an access has faulted, else goes on at `next`.
    pub(super) fn leave_if_bad(&mut self, status: Option<ir::Value>, next: ir::Block) {
        self.fb.ins().brif(status.expect("accesses have a result"), self.fault, &[], next, &[]);
    }
}
