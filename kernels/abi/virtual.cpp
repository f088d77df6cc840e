// C++: virtual functions, so tables of code addresses that the loader relocates, and objects on the stack that are
// reached by flat addresses.
#define NOINLINE __attribute__((noinline))
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((visibility("protected")))
#define KERNEL __attribute__((amdgpu_kernel)) SHARED void
typedef unsigned uint;

struct Shape {
  uint width, height;
  NOINLINE virtual uint area() const { return 0; }
  NOINLINE virtual uint scaled(uint factor) const { return factor; }
};
struct Rectangle : Shape {
  NOINLINE uint area() const override { return width * height; }
};
struct Triangle : Shape {
  NOINLINE uint area() const override { return width * height / 2; }
  NOINLINE uint scaled(uint factor) const override { return Shape::scaled(factor) + area(); }
};

extern "C" KERNEL shapes(GLOBAL uint *out) {
  uint i = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x();
  Shape none;
  Rectangle rectangle;
  Triangle triangle;
  rectangle.width = i;
  rectangle.height = i + 1;
  triangle.width = i * 3;
  triangle.height = 7;
  const Shape *shape = i % 3 == 0 ? &rectangle : i % 3 == 1 ? (const Shape *)&triangle : &none;
  out[i] = shape->area() * 10 + shape->scaled(i);
}

// Tables of functions: relocated data that the host can replace.
static NOINLINE uint twice(uint x) { return x * 2; }
static NOINLINE uint square(uint x) { return x * x; }
typedef uint (*function)(uint);
extern "C" {
SHARED GLOBAL function table[2] = {twice, square};
SHARED GLOBAL uint start = 5;

KERNEL apply(GLOBAL uint *out) {
  uint i = __builtin_amdgcn_workitem_id_x();
  out[i] = table[i & 1](i) + start;
}
}
