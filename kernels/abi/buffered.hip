// printf of C and C++ as clang lowers it with -mprintf-kind=buffered: formats by hash or as they are, strings of any
// length, all else in 8 bytes. BUFFERED is not set for the kind that calls the host.
#define DEVICE __attribute__((device))
extern "C" DEVICE int printf(const char *, ...);

#if BUFFERED
extern "C" DEVICE __attribute__((address_space(1))) char *__printf_alloc(unsigned bytes) {
  typedef __attribute__((address_space(1))) char *pointer;
  auto hidden = (const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr();
  pointer buffer = *(const __attribute__((address_space(4))) pointer *)(hidden + 72);
  auto used = (__attribute__((address_space(1))) unsigned *)buffer;
  unsigned room = used[1] - 8, start = __atomic_load_n(used, __ATOMIC_RELAXED);
  do {
    if (room < bytes || room - bytes < start)
      return nullptr;
  } while (!__atomic_compare_exchange_n(used, &start, start + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return buffer + 8 + start;
}
#else
// The host's part of the calls is to look at the buffer that a hidden argument points to.
static DEVICE unsigned long call(unsigned long x) {
  auto hidden = (const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr();
  return x + *(volatile unsigned long *)*(const __attribute__((address_space(4))) unsigned long *)(hidden + 80);
}
extern "C" DEVICE unsigned long __ockl_printf_begin(unsigned long x) { return call(x); }
extern "C" DEVICE unsigned long __ockl_printf_append_string_n(unsigned long x, const char *, unsigned long, unsigned) {
  return call(x);
}
extern "C" DEVICE unsigned long __ockl_printf_append_args(unsigned long x, unsigned, unsigned long, unsigned long,
                                                          unsigned long, unsigned long, unsigned long, unsigned long,
                                                          unsigned long, unsigned) {
  return call(x);
}
#endif

extern "C" __attribute__((global)) void print(const int *i, const char *name, const char *format) {
  printf("%d|%u|%x|%hhd|%lld|%c|%5.2f|%p\n", i[0], i[0], i[1], i[0], (long long)i[0] << 32, 'c', i[1] / 8.0, i);
  printf("%s is a name, %10s, %.3s, %s\n", name, "literal", name, "12345678");
  printf("%*d|%-*d|%.*f\n", 6, i[1], 6, i[1], 2, 1.005f);
#if BUFFERED
  // What is a string can only be told from a format that the compiler knows.
  printf(format, i[1]);
#endif
}
