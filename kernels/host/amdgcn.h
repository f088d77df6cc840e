// The builtins of clang's amdgcn target that kernels use, for the host. Included before a kernel, as OpenCL C.
//
// Lanes that exchange values are coroutines which meet (host_meet in harness.c): all that are active come to the same
// site, each with a value, and see the values of all.

uint host_lane(void);
void host_meet(uint site, uint value, ulong *active, private const uint **values);
void host_die(constant char *what);

typedef struct {
  ulong active;
  private const uint *value;
} host_meeting;

static inline host_meeting host_all(uint site, uint value) {
  host_meeting m;
  host_meet(site, value, &m.active, &m.value);
  return m;
}

static inline uint host_from(host_meeting m, uint lane) {
  if (!(m.active >> lane & 1))
    host_die("a lane that is not active is read");
  return m.value[lane];
}

static inline ulong host_ballot(uint site, bool b) {
  host_meeting m = host_all(site, b);
  ulong mask = 0;
  for (uint lane = 0; lane < 64; lane++)
    mask |= (m.active >> lane & 1 & m.value[lane]) << lane;
  return mask;
}

static inline uint host_readfirstlane(uint site, uint x) {
  host_meeting m = host_all(site, x);
  return host_from(m, __builtin_ctzl(m.active));
}

// Bits of `mask` below the lane; mbcnt_lo counts in lanes 0 to 31, mbcnt_hi in the others.
static inline uint host_mbcnt(uint mask, uint add, uint first) {
  uint lane = host_lane(), below = lane <= first ? 0 : lane - first;
  return add + __builtin_popcount(below >= 32 ? mask : mask & ((1u << below) - 1));
}

// Patterns of ds_swizzle: quads if bit 15 is set; otherwise and, or, xor masks for the lane in its half.
static inline uint host_swizzle(uint site, uint x, uint pattern) {
  uint lane = host_lane(), from;
  if (pattern & 0x8000)
    from = (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
  else
    from = (lane & 32) | ((((lane & pattern) | pattern >> 5) ^ pattern >> 10) & 31);
  return host_from(host_all(site, x), from);
}

// DPP moves of gfx8 and gfx9: quad_perm, row_shr, row_bcast:15 and row_bcast:31. A lane whose row or bank is masked
// off keeps `old`, and so does one without a source, unless `zero` (bound_ctrl) says that it gets 0.
static inline uint host_dpp(uint site, uint old, uint x, uint control, uint rows, uint banks, bool zero) {
  host_meeting m = host_all(site, x);
  int lane = host_lane(), row = lane / 16, from = -1;
  if (control <= 0xff)
    from = (lane & ~3) | (control >> 2 * (lane & 3) & 3);
  else if (control >= 0x111 && control <= 0x11f)
    from = lane % 16 >= (int)(control & 15) ? lane - (int)(control & 15) : -1;
  else if (control == 0x142)
    from = row > 0 ? row * 16 - 1 : -1;
  else if (control == 0x143)
    from = lane >= 32 ? 31 : -1;
  else
    host_die("a DPP control that the harness doesn't know");
  if (!(rows >> row & 1) || !(banks >> lane % 16 / 4 & 1))
    return old;
  if (from < 0)
    return zero ? 0 : old;
  return host_from(m, from);
}

static inline uint host_sad_u8(uint a, uint b, uint sum) {
  for (uint shift = 0; shift < 32; shift += 8) {
    int d = (int)(a >> shift & 255) - (int)(b >> shift & 255);
    sum += d < 0 ? -d : d;
  }
  return sum;
}

#define __builtin_amdgcn_ballot_w64(b) host_ballot(__COUNTER__, b)
#define __builtin_amdgcn_readlane(x, lane) host_from(host_all(__COUNTER__, x), lane)
#define __builtin_amdgcn_readfirstlane(x) host_readfirstlane(__COUNTER__, x)
#define __builtin_amdgcn_ds_swizzle(x, pattern) host_swizzle(__COUNTER__, x, pattern)
#define __builtin_amdgcn_ds_bpermute(address, x) host_from(host_all(__COUNTER__, x), (address) >> 2 & 63)
#define __builtin_amdgcn_update_dpp(old, x, control, rows, banks, zero)                                                \
  host_dpp(__COUNTER__, old, x, control, rows, banks, zero)
#define __builtin_amdgcn_mov_dpp(x, control, rows, banks, zero) host_dpp(__COUNTER__, 0, x, control, rows, banks, zero)
#define __builtin_amdgcn_mbcnt_lo(mask, add) host_mbcnt(mask, add, 0)
#define __builtin_amdgcn_mbcnt_hi(mask, add) host_mbcnt(mask, add, 32)
#define __builtin_amdgcn_alignbyte(high, low, shift) (uint)(((ulong)(high) << 32 | (low)) >> 8 * ((shift) & 3))
#define __builtin_amdgcn_sad_u8(a, b, sum) host_sad_u8(a, b, sum)
