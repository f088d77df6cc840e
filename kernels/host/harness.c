// Runs one kernel, compiled for the host, over a launch: the main program of build.sh's references.
//
//   PROGRAM LAUNCH OUTPUT [backwards]
//
// LAUNCH is what launches.rs wrote; OUTPUT gets the contents of the buffers that have results, one after the other.
//
// Every work-item of a work-group is a coroutine with a stack of its own. It runs until it ends, waits at a barrier or
// meets the other lanes of its wavefront (amdgcn.h), and work-groups run one after the other: there is one thread, so
// atomics are plain memory accesses. `backwards` takes work-groups and work-items in the opposite order, which must
// not make a difference.
//
// The kernel must not meet denormal single-precision numbers, which some targets flush and others keep: the program
// fails if it did.
#include <fenv.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { WAVE = 64, MAX_ITEMS = 1024, MAX_ARGS = 32, STACK = 256 << 10 };

// x86's sixth exception bit: an operand was denormal.
enum { DENORMAL_OPERAND = 2 };

// Calls the kernel with the arguments whose places are in `args`; made from its signature by build.sh.
void call_kernel(void **args);

struct arg {
  enum { BUFFER, VALUE, LOCAL, INDEX } kind;
  size_t bytes;
  bool is_result;
  void *data;
};

struct launch {
  uint32_t grid[3], block[3], count;
  unsigned arg_count;
  struct arg args[MAX_ARGS];
};

struct item {
  enum { READY, AT_BARRIER, AT_MEETING, ENDED } state;
  ucontext_t context;
  uint32_t local[3];
  unsigned site;  // where it meets the others, if it does
  uint32_t value; // what it brings along
};

// What the lanes of a wavefront brought to their latest meeting.
struct wave {
  uint64_t active;
  uint32_t value[WAVE];
};

static struct launch launch;
static void *places[MAX_ARGS]; // the arguments' places, for call_kernel
static uint32_t launch_index, group[3], group_size[3];
static unsigned item_count;
static struct item items[MAX_ITEMS], *current;
static struct wave waves[MAX_ITEMS / WAVE];
static ucontext_t scheduler;
static char *stacks;

static _Noreturn void die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

// ---- what the kernel calls ----

static void wait_as(int state) {
  current->state = state;
  swapcontext(&current->context, &scheduler);
}

void host_barrier(void) { wait_as(AT_BARRIER); }

uint32_t host_local_id(uint32_t d) { return current->local[d]; }
uint32_t host_group_id(uint32_t d) { return group[d]; }
uint32_t host_local_size(uint32_t d) { return group_size[d]; }
uint32_t host_enqueued_local_size(uint32_t d) { return launch.block[d]; }
uint32_t host_global_size(uint32_t d) { return launch.grid[d]; }

uint32_t host_lane(void) { return (current - items) % WAVE; }

// Waits for the lanes of the wavefront that come to the same `site`. `values` are then theirs, and the bits of
// `active` say which lanes there are; both are good until the lane's next meeting.
void host_meet(uint32_t site, uint32_t value, uint64_t *active, const uint32_t **values) {
  current->site = site;
  current->value = value;
  wait_as(AT_MEETING);
  const struct wave *wave = &waves[(current - items) / WAVE];
  *active = wave->active;
  *values = wave->value;
}

_Noreturn void host_die(const char *what) { die("%s", what); }

// ---- a work-group ----

static void item_main(void) {
  call_kernel(places);
  wait_as(ENDED);
}

// Lets the items run until none of them can go on by itself.
static void run_ready(bool backwards) {
  for (unsigned n = 0; n < item_count; n++) {
    current = &items[backwards ? item_count - 1 - n : n];
    if (current->state == READY)
      swapcontext(&scheduler, &current->context);
  }
}

// Lets the lanes of wave `w` that have met go on. All must have come to the same place: which of two
// divergent paths is taken first is the compiler's business, and nothing here.
static bool resolve_meeting(unsigned w) {
  struct wave *wave = &waves[w];
  unsigned first = w * WAVE, end = first + WAVE < item_count ? first + WAVE : item_count, site = 0;
  uint64_t active = 0;
  for (unsigned i = first; i < end; i++) {
    if (items[i].state != AT_MEETING)
      continue;
    if (active && items[i].site != site)
      die("lanes meet in different places at the same time");
    site = items[i].site;
    active |= 1ull << (i - first);
    wave->value[i - first] = items[i].value;
    items[i].state = READY;
  }
  if (active)
    wave->active = active;
  return active != 0;
}

// Opens the barrier, if somebody waits at it.
static bool open_barrier(void) {
  bool opened = false;
  for (unsigned i = 0; i < item_count; i++) {
    if (items[i].state == AT_BARRIER) {
      items[i].state = READY;
      opened = true;
    }
  }
  return opened;
}

static void start_item(unsigned i) {
  struct item *item = &items[i];
  item->state = READY;
  item->local[0] = i % group_size[0];
  item->local[1] = i / group_size[0] % group_size[1];
  item->local[2] = i / group_size[0] / group_size[1];
  getcontext(&item->context);
  item->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
  item->context.uc_stack.ss_size = STACK;
  makecontext(&item->context, item_main, 0);
}

static void run_group(bool backwards) {
  for (unsigned a = 0; a < launch.arg_count; a++) // what is in LDS at first is nobody's business
    if (launch.args[a].kind == LOCAL)
      memset(launch.args[a].data, 0xa5, launch.args[a].bytes);
  for (unsigned d = 0; d < 3; d++) {
    uint32_t left = launch.grid[d] - group[d] * launch.block[d];
    group_size[d] = left < launch.block[d] ? left : launch.block[d];
  }
  item_count = group_size[0] * group_size[1] * group_size[2];
  for (unsigned i = 0; i < item_count; i++)
    start_item(i);
  for (bool goes_on = true; goes_on;) {
    run_ready(backwards);
    goes_on = false;
    for (unsigned w = 0; w * WAVE < item_count; w++)
      goes_on |= resolve_meeting(w);
    goes_on = goes_on || open_barrier();
  }
}

static void run_grid(bool backwards) {
  uint32_t groups[3], total = 1;
  for (unsigned d = 0; d < 3; d++)
    total *= groups[d] = (launch.grid[d] + launch.block[d] - 1) / launch.block[d];
  for (uint32_t n = 0; n < total; n++) {
    uint32_t g = backwards ? total - 1 - n : n;
    group[0] = g % groups[0];
    group[1] = g / groups[0] % groups[1];
    group[2] = g / groups[0] / groups[1];
    run_group(backwards);
  }
}

// ---- files ----

static void read_arg(FILE *file, struct arg *arg) {
  char kind[16];
  int is_result;
  if (fscanf(file, " arg %15s %zu %d", kind, &arg->bytes, &is_result) != 3 || fgetc(file) != '\n')
    die("the launch has a bad argument");
  arg->is_result = is_result;
  const char *const kinds[] = {"buffer", "value", "local", "index"};
  for (arg->kind = BUFFER; strcmp(kind, kinds[arg->kind]) != 0; arg->kind++)
    if (arg->kind == INDEX)
      die("the launch has an argument of the unknown kind %s", kind);
  arg->data = aligned_alloc(64, (arg->bytes + 63) / 64 * 64);
  if (arg->data == NULL)
    die("no memory");
  if ((arg->kind == BUFFER || arg->kind == VALUE) && fread(arg->data, 1, arg->bytes, file) != arg->bytes)
    die("the launch ends too soon");
}

static void read_launch(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    die("%s can't be read", path);
  uint32_t *g = launch.grid, *b = launch.block;
  if (fscanf(file, "grid %u %u %u block %u %u %u loop %u args %u", &g[0], &g[1], &g[2], &b[0], &b[1], &b[2],
             &launch.count, &launch.arg_count) != 8)
    die("%s is no launch", path);
  if (launch.arg_count > MAX_ARGS || (uint64_t)b[0] * b[1] * b[2] > MAX_ITEMS)
    die("%s has too many arguments, or work-items in a group", path);
  for (unsigned a = 0; a < launch.arg_count; a++)
    read_arg(file, &launch.args[a]);
  fclose(file);
}

static void write_results(const char *path) {
  FILE *file = fopen(path, "wb");
  if (file == NULL)
    die("%s can't be written", path);
  for (unsigned a = 0; a < launch.arg_count; a++) {
    const struct arg *arg = &launch.args[a];
    if (arg->is_result && fwrite(arg->data, 1, arg->bytes, file) != arg->bytes)
      die("%s can't be written", path);
  }
  if (fclose(file) != 0)
    die("%s can't be written", path);
}

// A pointer argument's place holds a pointer, another's its bytes.
static void place_args(void) {
  for (unsigned a = 0; a < launch.arg_count; a++) {
    struct arg *arg = &launch.args[a];
    if (arg->kind == BUFFER || arg->kind == LOCAL)
      places[a] = &arg->data;
    else
      places[a] = arg->kind == INDEX ? &launch_index : arg->data;
  }
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4)
    die("usage: %s LAUNCH OUTPUT [backwards]", argv[0]);
  read_launch(argv[1]);
  place_args();
  stacks = malloc((size_t)MAX_ITEMS * STACK);
  if (stacks == NULL)
    die("no memory");
  feclearexcept(FE_ALL_EXCEPT);
  for (launch_index = 0; launch_index < launch.count; launch_index++)
    run_grid(argc == 4);
  if (fetestexcept(FE_UNDERFLOW | DENORMAL_OPERAND))
    die("the launch meets denormal numbers");
  write_results(argv[2]);
}
