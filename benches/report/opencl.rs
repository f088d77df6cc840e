//! PoCL, loaded at run time: the same OpenCL C sources on the same processor, compiled by LLVM.
//!
//! Only what the comparison needs of OpenCL 1.2, on one in-order queue whose events are timed by the platform.

use crate::support::{Arg, Launch, kernels_dir};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::time::Duration;

type Id = *mut c_void;
type Status = i32;

/// What PoCL calls its platform.
const PLATFORM: &str = "Portable Computing Language";

/// Builtins of amdgcn that are plain arithmetic, for sources that use them.
const PRELUDE: &str = "
static uint __builtin_amdgcn_alignbyte(uint hi, uint lo, uint n) { return ((ulong)hi << 32 | lo) >> (n % 4 * 8); }
static uint __builtin_amdgcn_sad_u8(uint a, uint b, uint c) {
  uchar4 d = abs_diff(as_uchar4(a), as_uchar4(b));
  return c + d.x + d.y + d.z + d.w;
}
";

/// Declares the functions that are used, by their names in the library.
macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "OpenCL's names")]
        struct Api {
            $($name: unsafe extern "C" fn($($arg),*) -> $result,)*
            _library: Library,
        }

        impl Api {
            /// # Safety
            /// The library is an OpenCL 1.2 implementation or loader.
            unsafe fn new(library: Library) -> Result<Api, libloading::Error> {
                // SAFETY: by the caller's contract, the symbols are functions of these types.
                unsafe {
                    Ok(Api {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

api! {
    clGetPlatformIDs: fn(u32, *mut Id, *mut u32) -> Status;
    clGetPlatformInfo: fn(Id, u32, usize, *mut c_void, *mut usize) -> Status;
    clGetDeviceIDs: fn(Id, u64, u32, *mut Id, *mut u32) -> Status;
    clCreateContext: fn(*const isize, u32, *const Id, *const c_void, *const c_void, *mut Status) -> Id;
    clCreateCommandQueue: fn(Id, Id, u64, *mut Status) -> Id;
    clCreateProgramWithSource: fn(Id, u32, *const *const c_char, *const usize, *mut Status) -> Id;
    clBuildProgram: fn(Id, u32, *const Id, *const c_char, *const c_void, *const c_void) -> Status;
    clGetProgramBuildInfo: fn(Id, Id, u32, usize, *mut c_void, *mut usize) -> Status;
    clCreateKernel: fn(Id, *const c_char, *mut Status) -> Id;
    clCreateBuffer: fn(Id, u64, usize, *mut c_void, *mut Status) -> Id;
    clSetKernelArg: fn(Id, u32, usize, *const c_void) -> Status;
    clEnqueueWriteBuffer: fn(Id, Id, u32, usize, usize, *const c_void, u32, *const Id, *mut Id) -> Status;
    clEnqueueReadBuffer: fn(Id, Id, u32, usize, usize, *mut c_void, u32, *const Id, *mut Id) -> Status;
    clEnqueueNDRangeKernel: fn(Id, Id, u32, *const usize, *const usize, *const usize, u32, *const Id, *mut Id) -> Status;
    clWaitForEvents: fn(u32, *const Id) -> Status;
    clGetEventProfilingInfo: fn(Id, u32, usize, *mut c_void, *mut usize) -> Status;
    clReleaseEvent: fn(Id) -> Status;
    clReleaseMemObject: fn(Id) -> Status;
    clReleaseKernel: fn(Id) -> Status;
    clReleaseProgram: fn(Id) -> Status;
}

const PLATFORM_NAME: u32 = 0x0902;
const DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
const QUEUE_PROFILING: u64 = 2;
const BUILD_LOG: u32 = 0x1183;
const MEM_READ_WRITE: u64 = 1;
const PROFILING_START: u32 = 0x1282;
const PROFILING_END: u32 = 0x1283;

fn check(status: Status, what: &str) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{what}: error {status}")) }
}

/// PoCL's processor device with a queue.
pub struct Host {
    api: Api,
    device: Id,
    context: Id,
    queue: Id,
}

impl Host {
    /// Loads OpenCL and finds PoCL.
    ///
    /// # Errors
    /// A sentence that says what there is not.
    pub fn open() -> Result<Host, String> {
        // SAFETY: libOpenCL's initialisers do nothing but read the list of installed implementations.
        let library = unsafe { Library::new("libOpenCL.so.1") }.map_err(|error| error.to_string())?;
        // SAFETY: libOpenCL.so.1 is the name of the standard's loader.
        let api = unsafe { Api::new(library) }.map_err(|error| error.to_string())?;
        let platform = platform(&api)?;
        let (mut device, mut status) = (null_mut(), 0);
        // SAFETY: pointers are null, where the standard allows it, or to locals of the sizes given; ids come from
        // the same library.
        unsafe {
            check((api.clGetDeviceIDs)(platform, DEVICE_TYPE_ALL, 1, &mut device, null_mut()), "clGetDeviceIDs")?;
            let context = (api.clCreateContext)(null(), 1, &device, null(), null(), &mut status);
            check(status, "clCreateContext")?;
            let queue = (api.clCreateCommandQueue)(context, device, QUEUE_PROFILING, &mut status);
            check(status, "clCreateCommandQueue")?;
            Ok(Host { api, device, context, queue })
        }
    }
}

fn platform(api: &Api) -> Result<Id, String> {
    let (mut ids, mut count) = ([null_mut(); 16], 0);
    // SAFETY: the array has 16 places.
    check(unsafe { (api.clGetPlatformIDs)(16, ids.as_mut_ptr(), &mut count) }, "clGetPlatformIDs")?;
    let is_pocl = |id: &Id| {
        let mut name = [0u8; 256];
        // SAFETY: the buffer is as long as said, and one byte of zero stays behind what is written to it.
        let status = unsafe { (api.clGetPlatformInfo)(*id, PLATFORM_NAME, 255, name.as_mut_ptr().cast(), null_mut()) };
        status == 0 && CStr::from_bytes_until_nul(&name).is_ok_and(|name| name.to_bytes() == PLATFORM.as_bytes())
    };
    let found = ids[..(count as usize).min(16)].iter().copied().find(is_pocl);
    found.ok_or_else(|| "no OpenCL platform is PoCL".to_owned())
}

/// A kernel compiled by PoCL, with its buffers.
pub struct Case<'a> {
    host: &'a Host,
    launch: Launch,
    program: Id,
    kernel: Id,
    buffers: Vec<Id>,
}

impl<'a> Case<'a> {
    /// Compiles `kernels/<name>/<name>.cl`, with `options` beside the standard's version.
    ///
    /// # Errors
    /// The first line of the compiler's that says what is wrong.
    pub fn new(host: &'a Host, launch: &Launch, options: &str) -> Result<Case<'a>, String> {
        let name = &launch.kernel;
        let path = kernels_dir().join(name).join(format!("{name}.cl"));
        let source = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut case =
            Case { host, launch: launch.clone(), program: null_mut(), kernel: null_mut(), buffers: Vec::new() };
        case.compile(&source, options)?;
        case.allocate()?;
        Ok(case)
    }

    fn compile(&mut self, source: &str, options: &str) -> Result<(), String> {
        let (api, mut status) = (&self.host.api, 0);
        let text = [PRELUDE, source].concat();
        let name = CString::new(self.launch.kernel.as_str()).expect("no zero in a name");
        let options = CString::new(format!("-cl-std=CL1.2 {options}")).expect("no zero in options");
        let (pointer, length) = (text.as_ptr().cast(), text.len());
        // SAFETY: pointers are null, where the standard allows it, or to locals of the sizes given; ids are the
        // host's.
        unsafe {
            self.program = (api.clCreateProgramWithSource)(self.host.context, 1, &pointer, &length, &mut status);
            check(status, "clCreateProgramWithSource")?;
            let built = (api.clBuildProgram)(self.program, 1, &self.host.device, options.as_ptr(), null(), null());
            if built != 0 {
                return Err(self.build_log());
            }
            self.kernel = (api.clCreateKernel)(self.program, name.as_ptr(), &mut status);
        }
        check(status, "clCreateKernel")
    }

    /// The first error that the compiler reports.
    fn build_log(&self) -> String {
        let mut log = vec![0u8; 1 << 16];
        let (size, into) = (log.len(), log.as_mut_ptr().cast());
        // SAFETY: the buffer is as long as said.
        unsafe {
            (self.host.api.clGetProgramBuildInfo)(self.program, self.host.device, BUILD_LOG, size, into, null_mut());
        }
        let log = String::from_utf8_lossy(&log);
        let error = log.lines().find_map(|line| line.split_once("error: ")).map(|(_, what)| what);
        let without_place = error.map(|what| what.rsplit_once(".cl:").map_or(what, |(_, rest)| rest));
        let text = without_place.unwrap_or("its compiler fails").trim_end_matches('\0');
        text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim().to_owned()
    }

    fn allocate(&mut self) -> Result<(), String> {
        for buffer in self.launch.buffers() {
            let mut status = 0;
            // SAFETY: no host memory is given.
            let id = unsafe {
                (self.host.api.clCreateBuffer)(
                    self.host.context,
                    MEM_READ_WRITE,
                    buffer.data.len(),
                    null_mut(),
                    &mut status,
                )
            };
            check(status, "clCreateBuffer")?;
            self.buffers.push(id);
        }
        Ok(())
    }

    /// Restores the buffers and runs all launches: their time, as the platform measures it.
    ///
    /// # Errors
    /// What OpenCL refuses.
    pub fn run(&self) -> Result<Duration, String> {
        let (api, queue) = (&self.host.api, self.host.queue);
        for (id, buffer) in self.buffers.iter().zip(self.launch.buffers()) {
            let (size, data) = (buffer.data.len(), buffer.data.as_ptr().cast());
            // SAFETY: the write is a blocking one, from memory as long as the buffer.
            let status = unsafe { (api.clEnqueueWriteBuffer)(queue, *id, 1, 0, size, data, 0, null(), null_mut()) };
            check(status, "clEnqueueWriteBuffer")?;
        }
        (0..self.launch.loop_count).map(|index| self.launch(index)).sum()
    }

    fn launch(&self, index: u32) -> Result<Duration, String> {
        let api = &self.host.api;
        let mut buffers = self.buffers.iter();
        for (place, arg) in self.launch.args.iter().enumerate() {
            let (size, value): (usize, *const c_void) = match arg {
                Arg::Buffer(_) => (size_of::<Id>(), std::ptr::from_ref(buffers.next().expect("one each")).cast()),
                Arg::Scalar(scalar) => (scalar.bytes.len(), scalar.bytes.as_ptr().cast()),
                Arg::Local(bytes) => (*bytes as usize, null()),
                Arg::LoopIndex => (4, std::ptr::from_ref(&index).cast()),
            };
            // SAFETY: the value is as long as said, or null for local memory.
            check(unsafe { (api.clSetKernelArg)(self.kernel, place as u32, size, value) }, "clSetKernelArg")?;
        }
        let [grid, block] = [self.launch.grid, self.launch.block].map(|sizes| sizes.map(|size| size as usize));
        let (mut event, mut times) = (null_mut(), [0u64; 2]);
        // SAFETY: arrays have three places, and times are 64 bits.
        unsafe {
            let (kernel, queue, sizes) = (self.kernel, self.host.queue, (grid.as_ptr(), block.as_ptr()));
            let enqueued =
                (api.clEnqueueNDRangeKernel)(queue, kernel, 3, null(), sizes.0, sizes.1, 0, null(), &mut event);
            check(enqueued, "clEnqueueNDRangeKernel")?;
            check((api.clWaitForEvents)(1, &event), "clWaitForEvents")?;
            for (time, which) in times.iter_mut().zip([PROFILING_START, PROFILING_END]) {
                let time = std::ptr::from_mut(time).cast();
                check((api.clGetEventProfilingInfo)(event, which, 8, time, null_mut()), "clGetEventProfilingInfo")?;
            }
            check((api.clReleaseEvent)(event), "clReleaseEvent")?;
        }
        Ok(Duration::from_nanos(times[1] - times[0]))
    }

    /// What the last run left in the buffers.
    ///
    /// # Errors
    /// What OpenCL refuses.
    pub fn results(&self) -> Result<Vec<Vec<u8>>, String> {
        let read = |(id, buffer): (&Id, &crate::support::Buffer)| {
            let mut data = vec![0u8; buffer.data.len()];
            let (size, into, queue) = (data.len(), data.as_mut_ptr().cast(), self.host.queue);
            // SAFETY: the read is a blocking one, into memory as long as the buffer.
            let status =
                unsafe { (self.host.api.clEnqueueReadBuffer)(queue, *id, 1, 0, size, into, 0, null(), null_mut()) };
            check(status, "clEnqueueReadBuffer").map(|()| data)
        };
        self.buffers.iter().zip(self.launch.buffers()).map(read).collect()
    }
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        let api = &self.host.api;
        // SAFETY: these are ids of the host's that nothing else refers to; null ones were never made.
        unsafe {
            self.buffers.iter().for_each(|id| {
                (api.clReleaseMemObject)(*id);
            });
            if !self.kernel.is_null() {
                (api.clReleaseKernel)(self.kernel);
            }
            if !self.program.is_null() {
                (api.clReleaseProgram)(self.program);
            }
        }
    }
}
