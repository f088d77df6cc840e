// printf of OpenCL C: every conversion, flag, length and vector, text with what the metadata escapes.
int printf(constant const char *format, ...);
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void hello(void) { printf("hello from %d\n", (int)get_global_id(0)); }

kernel void integers(global const int *i, global const long *l) {
  printf("%d|%i|%u|%o|%x|%X|%c\n", i[0], i[1], i[0], i[1], i[0], i[1], i[2]);
  printf("%5d|%-5d|%05d|%+d|% d|%.4d|%7.3d|%#x|%#o\n", i[1], i[1], i[1], i[1], i[1], i[1], i[1], i[1], i[1]);
  printf("%hhd|%hd|%d|%ld|%hhu|%hu|%lu|%lx\n", (char)i[0], (short)i[0], i[0], l[0], (uchar)i[0], (ushort)i[0], l[0], l[1]);
}

kernel void floats(global const float *f, global const double *d) {
  printf("%f|%.2f|%10.3f|%-10.1f|%+.0f|%#.0f\n", f[0], f[0], f[0], f[0], f[0], f[0]);
  printf("%e|%.2e|%E|%g|%G|%a|%.3a\n", d[0], d[0], d[0], d[0], d[1], d[0], d[0]);
  printf("%f %g %f %f %e\n", d[1], d[1], d[2], d[3], d[4]);
}

#define AS(type, value) __builtin_convertvector(value, type)
kernel void vectors(global const int8 *i, global const float4 *f, global const double2 *d, global const long2 *l) {
  int8 v = i[0];
  printf("%v2hld|%v3hld|%v4hlx\n", v.s01, v.s012, v.s0123);
  printf("%v4hhd|%v8hhu|%v16hhx\n", AS(char4, v.s0123), AS(uchar8, v), (uchar16)(v.s1));
  printf("%v2hhd|%v2hd|%v4hd|%v8hu\n", AS(char2, v.s01), AS(short2, v.s01), AS(short4, v.s0123), AS(ushort8, v));
  printf("%v2ld|%v3lu|%v8lx\n", l[0], (ulong3)(l[0].x, 2, 3), (ulong8)(l[0].y));
  printf("%v4hlf|%v2hlg|%5.1v3hlf|%v2le|%v2lf\n", f[0], f[0].xy, f[0].xyz, d[0], d[0]);
  printf("%v2hf|%v4hg\n", AS(half2, f[0].xy), AS(half4, f[0]));
}

kernel void strings(global const int *i) {
  // Clang 19 misplaces what follows a string with a length that is a multiple of four.
  printf("%s|%10s|%-10s|%.2s|%s|%c%%\n", "plain", "right", "lefty", "cut", "", 'c');
  printf("a: colon, \t tab, \a\b\f\r\v, \"quotes\" \\ and 'more'\n");
  printf("%p %p\n", i, (global int *)0);
  printf("the last one does not end its line");
}

// Each work-item prints what only it knows, if the buffer has room for it.
kernel void many(global int *result) {
  uint i = get_global_id(0);
  result[i] = printf("%u %u\n", i, i * i);
}
