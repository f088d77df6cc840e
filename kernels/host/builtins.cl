// OpenCL C's builtin functions for the host: those that the kernels call.
//
// Compiled like the kernel itself, so that dot() may fuse where the kernel may. Functions of mathematics are the C
// library's in double precision, rounded once: next to nothing is wrong with them but that rounding.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define CL __attribute__((overloadable))

// ---- work-items ----

uint host_local_id(uint d);
uint host_group_id(uint d);
uint host_local_size(uint d);
uint host_enqueued_local_size(uint d);
uint host_global_size(uint d);
void host_barrier(void);

CL size_t get_local_id(uint d) { return host_local_id(d); }
CL size_t get_group_id(uint d) { return host_group_id(d); }
CL size_t get_local_size(uint d) { return host_local_size(d); }
CL size_t get_global_size(uint d) { return host_global_size(d); }
CL size_t get_global_id(uint d) { return host_group_id(d) * host_enqueued_local_size(d) + host_local_id(d); }
CL void barrier(cl_mem_fence_flags flags) { host_barrier(); }

// ---- atomics: no other work-item runs meanwhile ----

#define ATOMIC(NAME, AS, T, NEW)                                                                                       \
  CL T NAME(volatile AS T *p, T v) {                                                                                   \
    T old = *p;                                                                                                        \
    *p = NEW;                                                                                                          \
    return old;                                                                                                        \
  }
#define ATOMICS(PREFIX, AS, T)                                                                                         \
  ATOMIC(PREFIX##add, AS, T, old + v)                                                                                  \
  ATOMIC(PREFIX##or, AS, T, old | v)                                                                                   \
  ATOMIC(PREFIX##xor, AS, T, old ^ v)                                                                                  \
  ATOMIC(PREFIX##min, AS, T, v < old ? v : old)                                                                        \
  ATOMIC(PREFIX##max, AS, T, v > old ? v : old)                                                                        \
  CL T PREFIX##inc(volatile AS T *p) { return PREFIX##add(p, (T)1); }                                                  \
  CL T PREFIX##cmpxchg(volatile AS T *p, T expected, T v) {                                                            \
    T old = *p;                                                                                                        \
    if (old == expected)                                                                                               \
      *p = v;                                                                                                          \
    return old;                                                                                                        \
  }

ATOMICS(atomic_, global, int)
ATOMICS(atomic_, global, uint)
ATOMICS(atomic_, local, int)
ATOMICS(atomic_, local, uint)
ATOMICS(atom_, global, ulong)

// ---- integers ----

CL int min(int a, int b) { return a < b ? a : b; }
CL uint min(uint a, uint b) { return a < b ? a : b; }
CL int max(int a, int b) { return a > b ? a : b; }
CL uchar max(uchar a, uchar b) { return a > b ? a : b; }
CL uchar abs_diff(uchar a, uchar b) { return a > b ? a - b : b - a; }
CL uint popcount(uint x) { return __builtin_popcount(x); }
CL uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
CL uint rotate(uint x, uint n) { return n & 31 ? x << (n & 31) | x >> (32 - (n & 31)) : x; }
CL ulong rotate(ulong x, ulong n) { return n & 63 ? x << (n & 63) | x >> (64 - (n & 63)) : x; }
CL uint mul_hi(uint a, uint b) { return (ulong)a * b >> 32; }
CL uint bitselect(uint a, uint b, uint c) { return (a & ~c) | (b & c); }

CL ulong mul_hi(ulong a, ulong b) {
  ulong al = (uint)a, ah = a >> 32, bl = (uint)b, bh = b >> 32;
  ulong middle = ah * bl + (al * bl >> 32);
  return ah * bh + (middle >> 32) + ((al * bh + (uint)middle) >> 32);
}

static short saturate(int x) { return x < SHRT_MIN ? SHRT_MIN : x > SHRT_MAX ? SHRT_MAX : x; }

CL short2 add_sat(short2 a, short2 b) { return (short2)(saturate(a.x + b.x), saturate(a.y + b.y)); }
CL short2 hadd(short2 a, short2 b) { return (short2)((a.x + b.x) >> 1, (a.y + b.y) >> 1); }
CL int2 convert_int2(short2 v) { return (int2)(v.x, v.y); }
CL short2 convert_short2_sat(int2 v) { return (short2)(saturate(v.x), saturate(v.y)); }
CL uchar4 convert_uchar4(ushort4 v) { return (uchar4)(v.x, v.y, v.z, v.w); }
CL ushort4 convert_ushort4(uchar4 v) { return (ushort4)(v.x, v.y, v.z, v.w); }

// ---- floating point ----

// The C library's; calling them as builtins needs no declaration.
#define MATH(NAME)                                                                                                     \
  CL float NAME(float x) { return __builtin_##NAME((double)x); }

MATH(cos)
MATH(exp)
MATH(exp2)
MATH(log)
MATH(log2)
MATH(sin)
MATH(sqrt)
MATH(tan)

CL float pow(float x, float y) { return __builtin_pow((double)x, (double)y); }
CL float rsqrt(float x) { return 1.0 / __builtin_sqrt((double)x); }
CL float native_sin(float x) { return sin(x); }
CL double sqrt(double x) { return __builtin_sqrt(x); }
CL double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

CL float fabs(float x) { return __builtin_fabsf(x); }
CL float floor(float x) { return __builtin_floorf(x); }
CL float rint(float x) { return __builtin_rintf(x); }
CL float trunc(float x) { return __builtin_truncf(x); }
CL float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }

CL float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
CL float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
CL float3 vload3(size_t i, global const float *p) { return (float3)(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }
CL void vstore3(float3 v, size_t i, global float *p) { p[3 * i] = v.x, p[3 * i + 1] = v.y, p[3 * i + 2] = v.z; }
