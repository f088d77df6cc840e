#!/bin/bash
# Rebuilds the code objects kernels/<name>/<name>.<target>.co from their sources.
#
#   kernels/build.sh                  everything
#   kernels/build.sh NAME...          these kernels only
#   KEEP_ASM=DIR kernels/build.sh     keeps the listings as DIR/<name>.<target>.s
#
# What the kernels must compute comes from host/build.sh.
#
# Needs clang, lld, llvm and libclc 19 (Debian: clang-19 lld-19 llvm-19 libclc-19);
# LLVM=N takes another version. The objects are code object version 5.
#
# saxpy is also built as saxpy.gfx900.v4.co, and as .v3.co and .v2.co, which only an
# older compiler can write: those need clang-15 lld-15 llvm-15 (OLD_LLVM=N) and are
# left as they are when these are not installed.
#
# The output depends on the sources and the tools' version only. A kernel is OpenCL
# C 2.0 unless its source says otherwise in a line "// std: CL1.2"; below 2.0 clang
# takes it for granted that there is no partial last work-group.
set -euo pipefail
export LC_ALL=C

LLVM=${LLVM:-19}
OLD_LLVM=${OLD_LLVM:-15}
KEEP_ASM=${KEEP_ASM:-}
LIBCLC=${LIBCLC:-/usr/lib/clc/amdgcn--amdhsa.bc}
TARGETS=(gfx600 gfx700 gfx803 gfx900)

die() {
  echo "build.sh: $*" >&2
  exit 1
}

# need TOOL PACKAGE
need() {
  command -v "$1" >/dev/null || die "$1 is not installed (Debian: package $2)"
}

check_tools() {
  need "clang-$LLVM" "clang-$LLVM"
  need "ld.lld-$LLVM" "lld-$LLVM"
  local tool
  for tool in llvm-dis llvm-as llvm-strip; do
    need "$tool-$LLVM" "llvm-$LLVM"
  done
  [[ -r $LIBCLC ]] || die "$LIBCLC does not exist (Debian: package libclc-$LLVM; or set LIBCLC)"
}

# libclc's bitcode, with our target triple and usable with any code object version.
make_libclc() {
  "llvm-dis-$LLVM" "$LIBCLC" -o "$tmp/libclc.ll"
  sed -i -E \
    -e 's/^target triple = .*/target triple = "amdgcn-amd-amdhsa"/' \
    -e 's/!"amd(hsa|gpu)_code_object_version", i32 [0-9]+/!"unused_version", i32 0/' \
    "$tmp/libclc.ll"
  ! grep -q 'code_object_version"' "$tmp/libclc.ll" || die "libclc's version flag was not removed"
  "llvm-as-$LLVM" "$tmp/libclc.ll" -o "$tmp/libclc.bc"
}

# make_rt LLVM TARGET VERSION: rt.cl as $tmp/rt.bc.
make_rt() {
  "clang-$1" -x cl -target amdgcn-amd-amdhsa -mcpu="$2" -mcode-object-version="$3" -nogpulib \
    -cl-std=CL2.0 -O2 -DCOV="$3" -emit-llvm -c rt/rt.cl -o "$tmp/rt.bc"
}

# make_co LLVM NAME TARGET VERSION OUTPUT: links with the $tmp/rt.bc of the same target.
make_co() {
  local llvm=$1 name=$2 out=$5 std
  local target=(-target amdgcn-amd-amdhsa "-mcpu=$3" "-mcode-object-version=$4")
  local libs=(-Xclang -mlink-builtin-bitcode -Xclang "$tmp/rt.bc")
  [[ $llvm != "$LLVM" ]] || libs+=(-Xclang -mlink-builtin-bitcode -Xclang "$tmp/libclc.bc")
  [[ -r $name/$name.cl ]] || die "kernels/$name/$name.cl does not exist"
  std=$(sed -n 's|^// std: ||p' "$name/$name.cl")

  "clang-$llvm" -x cl "${target[@]}" -nogpulib "-cl-std=${std:-CL2.0}" -O2 -Wall -Werror "${libs[@]}" \
    -S "$name/$name.cl" -o "$tmp/k.s"
  "clang-$llvm" "${target[@]}" -c "$tmp/k.s" -o "$tmp/k.o"
  "ld.lld-$llvm" -shared --no-undefined --build-id=none "$tmp/k.o" -o "$tmp/k.co"
  "llvm-strip-$llvm" --strip-unneeded --remove-section=.comment "$tmp/k.co"
  install -m 644 "$tmp/k.co" "$out"
  [[ -z $KEEP_ASM ]] || cp "$tmp/k.s" "$KEEP_ASM/$(basename "$out" .co).s"
}

# make_older LLVM VERSION: saxpy as an older code object.
make_older() {
  make_rt "$1" gfx900 "$2"
  make_co "$1" saxpy gfx900 "$2" "saxpy/saxpy.gfx900.v$2.co"
}

make_older_ones() {
  make_older "$LLVM" 4
  if command -v "clang-$OLD_LLVM" "ld.lld-$OLD_LLVM" "llvm-strip-$OLD_LLVM" >/dev/null; then
    make_older "$OLD_LLVM" 3
    make_older "$OLD_LLVM" 2
  else
    echo "build.sh: without clang-$OLD_LLVM, lld-$OLD_LLVM and llvm-$OLD_LLVM saxpy.gfx900.v3.co and .v2.co stay as they are" >&2
  fi
}

cd "$(dirname "$0")"
check_tools
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
[[ -z $KEEP_ASM ]] || mkdir -p "$KEEP_ASM"

names=("$@")
if [[ $# -eq 0 ]]; then
  for description in */launch.toml; do
    names+=("$(dirname "$description")")
  done
fi

make_libclc
for target in "${TARGETS[@]}"; do
  make_rt "$LLVM" "$target" 5
  for name in "${names[@]}"; do
    make_co "$LLVM" "$name" "$target" 5 "$name/$name.$target.co"
  done
done
[[ " ${names[*]} " != *" saxpy "* ]] || make_older_ones
echo "built ${#names[@]} kernels for ${TARGETS[*]}"
