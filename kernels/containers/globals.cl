// Device code with data of every kind: initialised, zero and constant variables, and pointers to them.
constant uint primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
__attribute__((visibility("default"))) global uint counter = 40;
__attribute__((visibility("protected"))) global uint zeroes[64];
global uint *global counter_pointer = &counter;
typedef constant const uint *table_t;
constant table_t tables[] = {primes, primes + 4};

kernel void add_primes(global uint *out) {
  uint i = get_global_id(0);
  out[i] = tables[i & 1][i >> 1 & 3] + zeroes[i & 63];
}

kernel void count(void) { atomic_add(counter_pointer, 1u); }

kernel void keep(global const uint *in) { zeroes[get_global_id(0) & 63] = in[get_global_id(0)]; }
