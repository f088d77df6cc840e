#!/bin/bash
# Rebuilds soften.gfx900.co, with line tables, and soften.broken.gfx900.co, which is the same with one operand of one
# instruction wrong, as a compiler with a bug would have it. Needs clang-19, lld-19 and llvm-19 (LLVM=N for another).
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")"
llvm=${LLVM:-19}
target=(-target amdgcn-amd-amdhsa -mcpu=gfx900 -mcode-object-version=5)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"clang-$llvm" -x cl "${target[@]}" -nogpulib -cl-std=CL2.0 -O2 -DCOV=5 -emit-llvm -c ../rt/rt.cl -o "$tmp/rt.bc"
"clang-$llvm" -x cl "${target[@]}" -nogpulib -cl-std=CL2.0 -O2 -gline-tables-only -fdebug-compilation-dir=. \
  -Xclang -mlink-builtin-bitcode -Xclang "$tmp/rt.bc" -S soften.cl -o "$tmp/good.s"
[[ -z ${KEEP_ASM:-} ]] || cp "$tmp/good.s" "$KEEP_ASM/soften.s"
# |v| - limit, without taking the magnitude.
sed 's/v_sub_f32_e64 \(v[0-9]*\), |\(v[0-9]*\)|, /v_sub_f32_e64 \1, \2, /' "$tmp/good.s" > "$tmp/broken.s"
cmp -s "$tmp/good.s" "$tmp/broken.s" && { echo "build.sh: there is nothing to break" >&2; exit 1; }
for kind in good broken; do
  "clang-$llvm" "${target[@]}" -c "$tmp/$kind.s" -o "$tmp/$kind.o"
  "ld.lld-$llvm" -shared --no-undefined --build-id=none "$tmp/$kind.o" -o "$tmp/$kind.co"
  "llvm-strip-$llvm" --strip-unneeded --keep-section=.debug_* --remove-section=.comment "$tmp/$kind.co"
done
install -m 644 "$tmp/good.co" soften.gfx900.co
install -m 644 "$tmp/broken.co" soften.broken.gfx900.co
