#!/usr/bin/env bash
# Runs the fuzz targets of a pack (node scripts/fuzz.mjs --pack FOLDER) on all cores of a machine without a compiler.
#   bash run.sh SECONDS OUTPUT
# OUTPUT gets a log, what was learnt and what was found of each target, and summary.txt. Exit code 1: something was found.
set -euo pipefail
pack=$(cd "$(dirname "$0")" && pwd)
seconds=${1:?usage: bash run.sh SECONDS OUTPUT}
mkdir -p "${2:?usage: bash run.sh SECONDS OUTPUT}"
out=$(cd "$2" && pwd)
targets=()
for program in "$pack"/bin/*; do [[ $program == *.dict ]] || targets+=("$(basename "$program")"); done
# The address sanitizer of clang 14 does not work with the address randomisation of newer kernels.
fixed=()
command -v setarch > /dev/null && setarch -R true 2> /dev/null && fixed=(setarch -R)
cores=$(nproc)

fuzz() {
  local target=$1 processes=$2 dictionary=()
  mkdir -p "$out/learnt/$target" "$out/found/$target" "$out/inputs/$target"
  cp -r "$pack/inputs/$target/." "$out/inputs/$target/"
  [[ -f $pack/bin/$target.dict ]] && dictionary=("-dict=$pack/bin/$target.dict")
  "${fixed[@]}" "$pack/bin/$target" "-fork=$processes" -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
    -timeout=10 -rss_limit_mb=2048 "-max_total_time=$seconds" "${dictionary[@]}" "-artifact_prefix=$out/found/$target/" \
    "$out/learnt/$target" "$out/inputs/$target" > "$out/$target.log" 2>&1 || true
}

for i in "${!targets[@]}"; do
  # The cores that do not divide evenly go to the first targets.
  processes=$((cores / ${#targets[@]} + (i < cores % ${#targets[@]} ? 1 : 0)))
  fuzz "${targets[$i]}" "$((processes > 0 ? processes : 1))" &
done
wait

found=0
{
  printf '%-10s %12s %8s %8s %8s\n' target inputs edges corpus found
  for target in "${targets[@]}"; do
    inputs=$(grep -oE '^#[0-9]+' "$out/$target.log" | tail -1 | tr -d '#' || true)
    final=$("${fixed[@]}" "$pack/bin/$target" -runs=0 "$out/learnt/$target" "$out/inputs/$target" 2>&1 || true)
    edges=$(grep -oE 'cov: [0-9]+' <<< "$final" | tail -1 | tr -dc '0-9' || true)
    bad=$(find "$out/found/$target" -type f | wc -l)
    found=$((found + bad))
    printf '%-10s %12s %8s %8s %8s\n' "$target" "${inputs:-?}" "${edges:-?}" "$(find "$out/learnt/$target" -type f | wc -l)" "$bad"
  done
  printf '%s s on %s cores, %s\n' "$seconds" "$cores" "$(date -u +%FT%TZ)"
} > "$out/summary.txt"
found=$(find "$out/found" -type f | wc -l)
cat "$out/summary.txt"
((found == 0))
