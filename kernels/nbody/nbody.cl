// One step of gravity between n bodies. Exercises: rsqrt, scalar loads of what all
// lanes read alike, 16-byte vector loads and stores.
kernel void nbody(global const float4 *pos, global float4 *vel, global float4 *out, uint n, float dt, float soft) {
  uint i = get_global_id(0);
  float4 p = pos[i];
  float3 acc = 0.0f;
  for (uint j = 0; j < n; j++) {
    float4 q = pos[j];
    float3 d = q.xyz - p.xyz;
    float inv = rsqrt(dot(d, d) + soft);
    acc += d * (q.w * inv * inv * inv);
  }
  float4 v = vel[i];
  v.xyz += acc * dt;
  p.xyz += v.xyz * dt;
  vel[i] = v;
  out[i] = p;
}
