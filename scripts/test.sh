#!/usr/bin/env bash
# Everything that is checked before a change goes in: set-up, style, build, unit tests (also under the sanitizers), the
# end-to-end tests, the installed tree and memcached. Ends with a line "N passed, N failed". Unit tests that fail are run once
# more, since some depend on time and machines are shared; those that pass only then are named above that line. End-to-end
# tests have one try: a cause that is found only the second time is not found.
#
#   test.sh            all of it (40 to 50 minutes on two cores)
#   test.sh --quick    without clang-tidy, sanitizers, memcached and leveldb
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

quick=no
case "${1:-}" in
  "") ;;
  --quick) quick=yes ;;
  *) die "unknown option $1 (known: --quick)" ;;
esac

passed=0
failed=0
failures=()
unstable=() # passed, but not at once
logs=$root/build/test-logs

finish() {
  say "Done"
  local failure
  for failure in "${unstable[@]}"; do echo "passed only when run again: $failure"; done
  for failure in "${failures[@]}"; do echo "failed: $failure"; done
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

record() { # name status: a check that counts as one test
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$1")
  fi
}

# Runs a check and keeps its output out of sight unless it fails.
check() { # name command...
  local name=$1 status=0 before=$SECONDS
  shift
  say "$name"
  "$@" >"$logs/${name//[^a-zA-Z0-9]/-}.log" 2>&1 || status=$?
  record "$name" "$status"
  if [ "$status" = 0 ]; then
    echo "ok ($((SECONDS - before)) s)"
    sed -n '/^note: /p' "$logs/${name//[^a-zA-Z0-9]/-}.log"
  else
    tail -40 "$logs/${name//[^a-zA-Z0-9]/-}.log"
    echo "FAILED ($((SECONDS - before)) s); the whole output: $logs/${name//[^a-zA-Z0-9]/-}.log"
  fi
  return "$status"
}

failed_of() { # log: how many tests failed, as ctest counts them
  sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$1" | tail -1
}

show_failures() { # log
  grep -vE '^ *[0-9]+/[0-9]+ Test +#.*Passed|^ *Start ' "$1" | tail -80
}

names_of_failed() { # log
  sed -nE 's/^\t *[0-9]+ - (.*) \([A-Za-z ]+\)$/\1/p' "$1"
}

# Runs a part of ctest and adds its counts; ctest's own "out of" line is what is summed.
run_ctest() { # name directory tries [ctest options]
  local name=$1 directory=$2 tries=$3 log total bad again
  shift 3
  log="$logs/${name//[^a-zA-Z0-9]/-}.log"
  say "$name"
  ctest --test-dir "$directory" --output-on-failure --no-tests=error "$@" >"$log" 2>&1 || true
  total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log" | tail -1)
  bad=$(failed_of "$log")
  if [ -z "$total" ]; then
    tail -20 "$log"
    record "$name (no test was run)" 1
    return
  fi
  [ "$bad" = 0 ] || show_failures "$log"
  if [ "$bad" != 0 ] && [ "$tries" = 2 ]; then
    say "$name: those that failed, once more and one at a time"
    ctest --test-dir "$directory" --output-on-failure --rerun-failed >"$log.again" 2>&1 || true
    again=$(failed_of "$log.again")
    bad=${again:-$bad}
    if [ "$bad" = 0 ]; then
      unstable+=("$name: $(names_of_failed "$log" | paste -sd';'), see $log")
    else
      show_failures "$log.again"
    fi
  fi
  [ "$bad" = 0 ] || failures+=("$name: $bad of $total tests, see $log")
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  tail -3 "$log" | sed -n 's/^Total Test time (real) = *//p' | sed "s/^/$((total - bad)) of $total passed in /"
}

our_sources() { # every C and C++ file that we wrote, but golden files, whose layout is what they test
  git -C "$root" ls-files -z -- '*.c' '*.cpp' '*.h' '*.hpp' |
    grep -zvE '(^|/)(golden|cases|fixtures|inputs|data)/' | sed -z "s#^#$root/#"
}

check_format() {
  our_sources | xargs -0 clang-format-19 --dry-run -Werror
}

# The compilation database of the release build says how each file is compiled.
check_tidy() {
  python3 - "$root" <<'PYTHON' | xargs -0 -P "$parallel" -n 1 clang-tidy-19 -p "$root/build/release" --quiet
import json, os, sys
root = sys.argv[1]
with open(os.path.join(root, "build/release/compile_commands.json"), encoding="utf-8") as file:
    files = {os.path.join(entry["directory"], entry["file"]) for entry in json.load(file)}
ours = ("annotations", "analyzer", "driver", "instrumenter", "report", "runtime")
for path in sorted(files):
    if os.path.relpath(path, root).split(os.sep)[0] in ours:
        sys.stdout.write(path + "\0")
PYTHON
}

# Side by side: memcached's tests mostly sleep.
check_subjects() {
  local subject status=0
  local -A running
  for subject in memcached leveldb; do
    "$root/tests/subjects/$subject.sh" >"$logs/subject-$subject.log" 2>&1 &
    running[$subject]=$!
  done
  for subject in "${!running[@]}"; do
    if wait "${running[$subject]}"; then
      echo "$subject: $(tail -1 "$logs/subject-$subject.log")"
      sed -n '/^note: /p' "$logs/subject-$subject.log"
    else
      status=1
      echo "$subject failed:"
      cat "$logs/subject-$subject.log"
    fi
  done
  return "$status"
}

build() { # preset
  configure "$1" && cmake --build "$root/build/$1" --parallel "$parallel"
}

# Bounded: a longer run is by hand (tests/fuzz/CMakeLists.txt).
fuzz() {
  configure fuzz && cmake --build --preset fuzz --parallel "$parallel" &&
    "$root/build/fuzz/tests/fuzz/fuzz_reader" -max_total_time=30 -rss_limit_mb=1024 -timeout=10 -len_control=0 -max_len=16384
}

install_packages
mkdir -p "$logs"
cd "$root"

check "Format (clang-format)" check_format || true
if ! check "Build: release" build release; then
  finish
  exit 1
fi
if [ "$quick" = no ]; then check "Static analysis (clang-tidy)" check_tidy || true; fi
run_ctest "Tests: release" "$root/build/release" 2 -LE e2e -j "$parallel"
if [ "$quick" = no ]; then
  for preset in asan-ubsan tsan; do
    if check "Build: $preset" build "$preset"; then
      run_ctest "Tests: $preset" "$root/build/$preset" 2 -LE e2e -j "$parallel"
    fi
  done
fi
if [ "$quick" = no ]; then check "Fuzzing: the reader, for half a minute" fuzz || true; fi
# These run programs whose latency is measured, so one at a time.
run_ctest "End to end: quickstart, interruption, installed tree" "$root/build/release" 1 -L e2e -LE memcached
if [ "$quick" = no ]; then
  run_ctest "End to end: memcached" "$root/build/release" 1 -L memcached
  check "Everything instrumented: the tests of memcached and leveldb" check_subjects || true
fi
finish
