// One compare-exchange pass over pairs (key, value); launched once for each pass,
// the pass number being an argument. Exercises: a scalar loop, shifts by uniform
// amounts, a conditional swap, launches that depend on each other.
kernel void bitonic_sort(global int *keys, global uint *values, uint launch) {
  uint stage = 0, pass = launch;
  while (pass > stage)
    pass -= ++stage;
  pass = stage - pass; // the distance of the pairs is 2^pass

  uint i = get_global_id(0);
  uint low = ((i >> pass) << (pass + 1)) | (i & ((1u << pass) - 1));
  uint high = low | 1u << pass;
  bool descending = (i >> stage) & 1;
  int a = keys[low], b = keys[high];
  if ((a > b) != descending && a != b) {
    uint t = values[low];
    values[low] = values[high];
    values[high] = t;
    keys[low] = b;
    keys[high] = a;
  }
}
