// The device side of printf: takes room for a message in the buffer that a hidden argument points to. The buffer
// starts with two dwords, the bytes of messages so far and its size with these two.
#define HEADER 8
#if COV >= 5
#define PRINTF_BUFFER 72
#else
#define PRINTF_BUFFER 24
#endif

global char *__printf_alloc(uint bytes) {
  constant const uchar *hidden = __builtin_amdgcn_implicitarg_ptr();
  global char *buffer = *(global char *constant *)(hidden + PRINTF_BUFFER);
  global atomic_uint *used = (global atomic_uint *)buffer;
  uint room = ((global uint *)buffer)[1] - HEADER;
  uint start = __opencl_atomic_load(used, memory_order_relaxed, memory_scope_device);
  do {
    if (room < bytes || room - bytes < start)
      return 0;
  } while (!__opencl_atomic_compare_exchange_strong(used, &start, start + bytes, memory_order_relaxed,
                                                    memory_order_relaxed, memory_scope_device));
  return buffer + HEADER + start;
}
