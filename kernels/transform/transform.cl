// std: CL1.2
// Transforms points by a matrix passed by value, in three dimensions. Exercises: a
// struct argument, a three-dimensional grid, dot products, 12-byte elements.
typedef struct {
  float4 row[3];
  float scale;
  int shift;
} transform_t;

kernel void transform(global const float *in, global float *out, transform_t t, uint4 size) {
  uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  uint i = (z * size.y + y) * size.x + x;
  float4 p = (float4)(vload3(i, in), 1.0f);
  float3 r = (float3)(dot(t.row[0], p), dot(t.row[1], p), dot(t.row[2], p)) * t.scale;
  vstore3(r + (float3)(x, y, (int)z + t.shift), i, out);
}
