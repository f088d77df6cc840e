// An RC4 key stream for each work-item. Exercises: scratch memory (a private byte
// array with variable indices that fits neither registers nor LDS).
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
rc4(global const uchar *keys, global uint *stream, uint key_len, uint words) {
  uchar s[256];
  uint id = get_global_id(0);
  for (uint i = 0; i < 256; i++)
    s[i] = i;
  uint j = 0;
  for (uint i = 0; i < 256; i++) {
    j = (j + s[i] + keys[id * key_len + i % key_len]) & 255;
    uchar t = s[i];
    s[i] = s[j];
    s[j] = t;
  }
  uint i = 0;
  j = 0;
  for (uint w = 0; w < words; w++) {
    uint word = 0;
    for (uint b = 0; b < 32; b += 8) {
      i = (i + 1) & 255;
      j = (j + s[i]) & 255;
      uchar t = s[i];
      s[i] = s[j];
      s[j] = t;
      word |= (uint)s[(s[i] + s[j]) & 255] << b;
    }
    stream[w * get_global_size(0) + id] = word;
  }
}
