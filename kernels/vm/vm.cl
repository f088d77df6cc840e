// Each lane interprets its own program for a stack machine. Exercises: a divergent
// switch in a divergent loop, early exits, private arrays indexed by lane
// (kept in registers through chains of selects).
enum { PUSH, ADD, SUB, MUL, DUP, SWAP, JNZ, HALT };

kernel void vm(global const uint *code, global const uint *entry, global int *result, global uint *steps,
               uint size, uint limit) {
  uint id = get_global_id(0), pc = entry[id] % size, sp = 0, n = 0;
  int stack[8] = {(int)id, 1, 2, 3, 4, 5, 6, 7};
  for (; n < limit; n++) {
    uint word = code[pc];
    int arg = (int)word >> 8;
    pc = pc + 1 < size ? pc + 1 : 0;
    int top = stack[sp], under = stack[(sp + 7) & 7];
    uint op = word & 7;
    if (op == HALT)
      break;
    switch (op) {
    case PUSH:
      sp = (sp + 1) & 7;
      stack[sp] = arg;
      break;
    case ADD:
      stack[sp] = top + under;
      break;
    case SUB:
      stack[sp] = under - top;
      break;
    case MUL:
      stack[sp] = top * (under | 1);
      break;
    case DUP:
      sp = (sp + 1) & 7;
      stack[sp] = top;
      break;
    case SWAP:
      stack[sp] = under;
      stack[(sp + 7) & 7] = top;
      break;
    case JNZ:
      if (top & 3)
        pc = (pc + (word >> 8)) % size;
      break;
    }
  }
  int sum = 0;
  for (uint i = 0; i < 8; i++)
    sum = sum * 31 + stack[i];
  result[id] = sum;
  steps[id] = n;
}
