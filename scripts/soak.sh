#!/usr/bin/env bash
# Runs what takes too long for every change, or needs many runs to be conclusive: real servers with
# everything instrumented, each planted cause ten times, 10,000 random programs, coverage of
# confidence intervals, AArch64 under emulation, long fuzzing, and the unit tests twenty times
# beside busy loops. The last line is "N passed, N failed".
#
#   soak.sh            all parts: some hours
#   soak.sh NAME...    only these parts: tests tidy random planted repeat fuzz subjects
#                      mariadb studies spark
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/checks.sh
. "$root/scripts/checks.sh"

parts=(tests tidy random planted repeat fuzz subjects mariadb studies spark)
chosen=("$@")
[ $# != 0 ] || chosen=("${parts[@]}")
for part in "${chosen[@]}"; do
  [[ " ${parts[*]} " == *" $part "* ]] || die "unknown part $part (known: ${parts[*]})"
done

# Tests that measure time or emulate AArch64.
soak_tests() {
  run_ctest "Tests with the label soak" "$root/build/release" -L soak -LE planted
}

# With Clang's analyzer. It treats the files of a component as headers, which it skips unless told
# not to.
soak_tidy() {
  check "Static analysis of everything (clang-tidy)" tidy_components \
    --checks=-bugprone-suspicious-include \
    --extra-arg=-Xclang --extra-arg=-analyzer-opt-analyze-headers || true
}

soak_random() {
  check "10,000 random programs against the oracle" \
    "$root/build/release/tests/analyzer/vprof_analyzer_tests" "[many]" || true
  check "Coverage of the confidence intervals" \
    "$root/build/release/tests/analyzer/vprof_analyzer_tests" "[coverage]" || true
  local language
  for language in c cpp; do
    check "100 random instrumented programs: $language" \
      python3 "$root/tests/instrumenter/random_programs.py" \
      --instrument "$root/build/release/instrumenter/vprof-instrument" \
      --include "$root/runtime/include" --lib "$root/build/release/runtime" \
      --filecheck FileCheck-19 --clang clang-19 --language "$language" --first 1000 --count 100 || true
  done
}

soak_planted() {
  local program
  for program in "$root"/tests/planted/programs/*.c*; do
    program=$(basename "${program%.*}")
    check "Planted cause, ten times: $program" "$root/tests/planted/run.sh" 10 "$program" || true
    VPROF_VERB=live check "Planted cause, ten times by vprof live: $program" \
      "$root/tests/planted/run.sh" 10 "$program" || true
  done
}

# Runs the unit tests twenty times beside a busy loop per core: no test may need an idle machine.
soak_repeat() {
  local loops=() round core
  for ((core = 0; core < $(nproc); ++core)); do
    (while :; do :; done) &
    loops+=($!)
  done
  for ((round = 1; round <= 20; ++round)); do
    run_ctest "Unit tests beside busy loops, round $round of 20" "$root/build/release" \
      -LE 'e2e|soak' -j "$tests_at_once"
  done
  kill "${loops[@]}"
  wait "${loops[@]}" 2>/dev/null || true
}

soak_fuzz() {
  check "Build: asan-ubsan" build asan-ubsan || return 0
  check "Fuzzing: the reader, for ten minutes" "$root/build/asan-ubsan/tests/fuzz/fuzz_reader" \
    -max_total_time=600 -rss_limit_mb=1024 -timeout=10 -len_control=0 -max_len=16384 || true
}

soak_subjects() {
  local subject compiler
  for subject in memcached leveldb httpd capnproto postgresql redis nginx haproxy zeromq \
    cpp-httplib sqlite-amalgamation sqlite poco mariadb; do
    for compiler in gcc clang; do
      check "Everything instrumented: $subject, $compiler" \
        "$root/tests/subjects/$subject.sh" "$compiler" || true
    done
  done
  for subject in postgresql memcached redis sqlite; do
    check "Armed, with a random part of the sites on: $subject" \
      "$root/tests/subjects/$subject.sh" gcc armed || true
  done
  for subject in redis nginx haproxy zeromq cpp-httplib sqlite-amalgamation sqlite poco; do
    check "A planted cause, from what vprof init writes: $subject" \
      "$root/tests/subjects/$subject.sh" gcc loop || true
  done
}

# The papers' remedies for InnoDB: whether they are right, and what they change.
soak_mariadb() {
  local example=$root/examples/mariadb
  check "MariaDB: source" "$example/run.sh" --fetch || return 0
  check "MariaDB: patches" "$example/patches/run.sh" apply || return 0
  check "MariaDB: is a lock granted twice?" "$example/patches/run.sh" stress || true
  check "MariaDB: its own innodb tests" "$example/patches/run.sh" suite || true
  check "MariaDB: first iteration" "$example/run.sh" --restart --max-iterations 1 || return 0
  check "MariaDB: what the patches change" "$example/patches/run.sh" measure || true
}

# Tables of the examples' READMEs: what measuring costs each server, and whether searches agree with
# each other, with each form of the specificity.
soak_studies() {
  local server
  for server in memcached httpd postgresql mariadb; do
    study_server "$server" || true
  done
}

study_server() { # of examples/
  local example=$root/examples/$1 run watched start
  case $1 in
    memcached) run='LOAD_REQUESTS=1000000000' watched=LOAD_REQUESTS=1000000 start=drive_machine ;;
    httpd)
      run='REQUESTS=1000000000 COLD_FILES=4000' watched=REQUESTS=200000
      start=ap_process_async_request
      ;;
    postgresql) run='TRANSACTIONS=1000000' watched=TRANSACTIONS=5000 start=PostgresMain ;;
    mariadb) run='TRANSACTIONS=10000000' watched=TRANSACTIONS=20000 start=do_command ;;
  esac
  export WORKLOAD=tpcc # of PostgreSQL and MariaDB
  check "$1: first iteration" "$example/run.sh" --restart --max-iterations 1 || return 1
  # The owner of .vprof also writes the configurations with other forms.
  chown --reference="$example/.vprof" "$example"
  check "$1: builds with 1 to 500 call sites" "$example/overhead.py" prepare &&
    check "$1: what measuring costs" "$example/overhead.py" measure --rounds 11 &&
    check "$1: the table" "$example/overhead.py" report
  check "$1: three searches with each form of the specificity" as_owner_of "$example/.vprof" \
    "$root/benchmarks/live_searches.py" "$example" --run "$run ../../workload.sh" --searches 3 \
    --settle 25 --specificity linear,quadratic,cubic
  check "$1: what a watch costs, as more call sites are measured" \
    as_owner_of "$example/.vprof" env "$watched" "$root/benchmarks/watch_cost.py" "$example" \
    "$example/work/plain" --root "$start"
}

as_owner_of() { # file command...
  local file=$1
  shift
  setpriv --reuid="$(stat -c %u "$file")" --regid="$(stat -c %g "$file")" --clear-groups \
    env HOME="$(dirname "$file")" "$@"
}

# The fleet on Spark. Spark stays out of build/python, which every test run installs.
soak_spark() {
  local python=$root/build/python-soak
  if ! cmp -s "$root/tests/requirements-soak.txt" "$python/requirements-soak.txt"; then
    rm -rf "$python"
    "$root/build/python/bin/python3" -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check \
      -r "$root/tests/requirements.txt" -r "$root/tests/requirements-soak.txt"
    cp "$root/tests/requirements-soak.txt" "$python/"
  fi
  check "The fleet on Spark" "$python/bin/python3" -m pytest -q -p no:cacheprovider \
    "$root/tests/python/fleet/soak_spark.py" || true
}

install_packages "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_to_soak[@]}"
install_python_packages
mkdir -p "$logs"
cd "$root"
if ! check "Build: release" build release; then
  finish
  exit 1
fi
for part in "${chosen[@]}"; do "soak_$part"; done
finish
