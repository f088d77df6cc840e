#!/bin/bash
# Makes the references kernels/<name>/<name>.expected: compiles each kernel's source for the host, runs it over the
# launch of its launch.toml, and keeps the buffers that the launch expects results in, one after the other.
#
#   kernels/host/build.sh             everything
#   kernels/host/build.sh NAME...     these kernels only
#
# Needs clang 19 and a C library for x86-64 (Debian: clang-19 libc6-dev; LLVM=N takes another version), and cargo for
# the contents of the buffers, which tests/support makes.
#
# Each target's binary has a twin: compiled with the macro that the target defines, and with multiplications and
# additions fused where its compiler fuses them. gfx600, gfx700 and gfx803 round a product before it is added
# (v_mac_f32); gfx900 keeps denormals, which v_mac_f32 can't, and fuses (v_fma_f32). What differs there is in
# <name>.fused.expected. Double precision has no instruction but the fused one: kernels with it fuse on all targets.
# Every twin is run forwards and backwards, as harness.c has it.
set -euo pipefail
export LC_ALL=C

LLVM=${LLVM:-19}

die() {
  echo "build.sh: $*" >&2
  exit 1
}

# signature NAME: the kernel's parameters, a line each.
signature() {
  tr '\n' ' ' <"$1/$1.cl" | sed -nE "s/.*\bkernel\b.*\b$1\(([^)]*)\) *\{.*/\1/p" | tr ',' '\n'
}

# make_call NAME: the kernel's source, and call_kernel, which calls it with arguments from memory.
make_call() {
  local parameter type comma="" n=0
  printf '#include "%s/%s.cl"\nvoid call_kernel(global void **args) {\n  %s(' "$PWD/$1" "$1" "$1"
  while read -r parameter; do
    type=$(sed -E 's/[A-Za-z_0-9]+ *$//' <<<"$parameter")
    printf '%s*(%s global *)args[%d]' "$comma" "$type" "$n"
    comma=", "
    n=$((n + 1))
  done <<<"$(signature "$1")"
  printf ');\n}\n'
  [[ $n -gt 0 ]] || die "no signature found in kernels/$1/$1.cl"
}

# make_twin NAME TARGET OPTION...: $tmp/NAME.TARGET.out, what the launch leaves.
make_twin() {
  local name=$1 target=$2 std
  std=$(sed -n 's|^// std: ||p' "$name/$name.cl")
  local options=(-x cl "-cl-std=${std:-CL2.0}" -target x86_64-unknown-linux-gnu -O2 -Wall -Werror "${@:3}")
  make_call "$name" >"$tmp/call.cl"
  "clang-$LLVM" "${options[@]}" "-D__${target}__" -include host/amdgcn.h -c "$tmp/call.cl" -o "$tmp/call.o"
  "clang-$LLVM" "${options[@]}" -c host/builtins.cl -o "$tmp/builtins.o"
  "clang-$LLVM" "$tmp/call.o" "$tmp/builtins.o" "$tmp/harness.o" -lm -o "$tmp/twin"
  "$tmp/twin" "$tmp/$name.launch" "$tmp/$name.$target.out" || die "$name as $target did not run"
  "$tmp/twin" "$tmp/$name.launch" "$tmp/backwards.out" backwards || die "$name as $target did not run backwards"
  cmp "$tmp/$name.$target.out" "$tmp/backwards.out" || die "$name depends on the order of its work-items"
}

# make_expected NAME: compares what the twins leave, and installs what is different.
make_expected() {
  local name=$1 target fuse=()
  ! grep -q '\bdouble\b' "$name/$name.cl" || fuse=(-mfma)
  for target in gfx600 gfx700 gfx803; do
    make_twin "$name" "$target" -ffp-contract=on "${fuse[@]}"
    cmp "$tmp/$name.gfx600.out" "$tmp/$name.$target.out" || die "$name as $target differs from gfx600"
  done
  make_twin "$name" gfx900 -ffp-contract=on -mfma
  install -m 644 "$tmp/$name.gfx600.out" "$name/$name.expected"
  rm -f "$name/$name.fused.expected"
  cmp -s "$tmp/$name.gfx600.out" "$tmp/$name.gfx900.out" ||
    install -m 644 "$tmp/$name.gfx900.out" "$name/$name.fused.expected"
}

cd "$(dirname "$0")/.."
command -v "clang-$LLVM" >/dev/null || die "clang-$LLVM is not installed (Debian: package clang-$LLVM)"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

names=("$@")
if [[ $# -eq 0 ]]; then
  for description in */launch.toml; do
    names+=("$(dirname "$description")")
  done
fi

cargo run --quiet --example launches -- "$tmp" "${names[@]}"
"clang-$LLVM" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -c host/harness.c -o "$tmp/harness.o"
for name in "${names[@]}"; do
  make_expected "$name"
done
echo "made references for ${#names[@]} kernels"
