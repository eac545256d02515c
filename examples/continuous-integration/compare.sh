#!/bin/sh
# Measures two versions of a program in turn, and fails if the second one is worse for certain.
#
#   compare.sh BEFORE AFTER [CONDITION...]
#
# BEFORE and AFTER are source trees with a vprof.json each. A CONDITION is one of
# `vprof diff --fail-if`; without any it is p99>1.1x. The exit code is 1 if one holds over its whole
# confidence interval, and 2 after an error.
#
#   RUNS=5      how often each version is measured. The two take turns, so that what the machine
#               does meanwhile befalls both.
#   EXPAND=     functions whose calls are measured as well, separated by spaces: those to name in
#               conditions such as share(f)>10%
#   OUT=.       where before.vprof, after.vprof, comment.md and junit.xml go
set -eu

if [ $# -lt 2 ]; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
before=$1
after=$2
shift 2
[ $# -gt 0 ] || set -- 'p99>1.1x'
runs=${RUNS:-5}
mkdir -p "${OUT:-.}"
out=$(cd "${OUT:-.}" && pwd)

# Its exit code is 1 for conditions alone.
step() {
  "$@" || exit 2
}

for tree in "$before" "$after"; do
  step vprof -C "$tree" index
  # shellcheck disable=SC2086
  step vprof -C "$tree" instrument ${EXPAND:+--expand $EXPAND}
  step vprof -C "$tree" build
done
rm -f "$out"/before-*.vprof "$out"/after-*.vprof
run=1
while [ "$run" -le "$runs" ]; do
  for name in before after; do
    eval "tree=\$$name"
    step vprof -C "$tree" record
    step vprof -C "$tree" analyze --profile "$out/$name-$run.vprof" >"$out/$name-$run.txt"
  done
  run=$((run + 1))
done
for name in before after; do
  step vprof merge "$out/$name"-*.vprof -o "$out/$name.vprof" >"$out/$name.txt"
done

conditions=$#
for condition; do
  set -- "$@" --fail-if "$condition"
done
shift "$conditions"
code=0
vprof diff "$out/before.vprof" "$out/after.vprof" --certainly "$@" \
  --markdown --junit "$out/junit.xml" >"$out/comment.md" || code=$?
cat "$out/comment.md"
exit "$code"
