# For the scripts of the subjects to source. A subject is a real program of which every function and
# call is instrumented. Its own tests must then have the results that they have without: "The
# instrumented program means what the original meant."
#
#   NAME.sh [gcc|clang]     from nothing to the verdict; default: gcc
#   NAME.sh gcc quick       the same with a part of the tests, for continuous integration
#   NAME.sh gcc linked      links the runtime, which records all kinds of waits; instruments nothing
#   NAME.sh gcc armed       builds it for `vprof live`; while its tests run, another random part of
#                           its sites is on every 100 ms
#   NAME.sh gcc loop        plants a cause, and finds it with `vprof init` and `vprof loop --auto`
#   NAME.sh gcc unstable N  runs the tests of the plain build N times and lists those whose results
#                           differ: no verdict on instrumentation, so the suites leave them out
#
# A script defines these variables and functions, then calls run_subject "$@":
#
#   package, version        Debian source package and upstream version
#   needs=(...)             Debian packages that building and testing it needs
#   configure, build        commands, as in vprof.json
#   interval                a function whose executions are the intervals
#   suite                   function: runs the tests of the built program in the current directory;
#                           its output becomes the log
#   suite_quick             function, optional: the part of them that takes seconds
#   verdict LOG             function: prints the lines of a log that must be the same in both runs
#   unprivileged=yes        the tests refuse to run as root
#   prepare                 function, optional: completes the source in the current directory
#
# and for the loop:
#
#   plant                   function: plants a cause in the source in the current directory
#   cause                   the function that the loop must find
#   catalogue               the entry whose configuration the loop takes; by default what `vprof
#                           init` writes by itself
#   request                 another one of its proposals than the first
#   loop_configure, loop_build, loop_run   in place of what `vprof init` writes
#
# All results are in build/subjects/NAME-COMPILER: plain/, .vprof/mirror/, *.log, plain.verdict,
# instrumented.verdict, coverage. A later run of the same script with the same compiler uses the
# source, the plain build and the plain verdict again; everything else is done anew.
# shellcheck shell=bash disable=SC2154  # the subject sets them
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=examples/debian-source.sh
. "$root/examples/debian-source.sh"
unprivileged=no

as_tester() { # command...: in the current directory; not as root if the subject refuses that
  if [ "$unprivileged" = yes ] && [ "$(id -u)" = 0 ]; then
    setpriv --reuid=nobody --regid=nogroup --clear-groups -- env HOME="$PWD" "$@"
  else
    "$@"
  fi
}

hand_over() { # directory
  if [ "$unprivileged" = yes ] && [ "$(id -u)" = 0 ]; then chown -R nobody:nogroup "$1"; fi
}

# With ccache, where it is installed, a build in another directory need not compile what is the same.
use_ccache() {
  [ -d /usr/lib/ccache ] || return 0
  export PATH="/usr/lib/ccache:$PATH" CCACHE_NOHASHDIR=1
  configure="export CCACHE_BASEDIR=\$PWD; $configure"
  build="export CCACHE_BASEDIR=\$PWD; $build"
}

write_configuration() {
  cat >"$here/vprof.json" <<JSON
{ "source": "source",
  "configure": "$configure",
  "build": "$build",
  "run": "true",
  "env": { "CC": "$cc", "CXX": "$cxx" },
  "intervals": [{ "name": "work", "function": "$interval" }] }
JSON
}

prepare() { :; }

# Makes a function take 3 ms in each hundredth call, from within a function of its own. `line`
# matches its head, and `brace` the line of its opening brace if that is another one.
plant_pause() { # file line [brace]
  python3 - "$@" <<'PY'
import re, sys

path, head, *brace = sys.argv[1:]
lines = open(path).read().split("\n")
at = max(i for i, line in enumerate(lines) if re.search(head, line) and not line.endswith(";"))
if brace:
    at = next(i for i in range(at, len(lines)) if re.search(brace[0], lines[i]))
first = at
while first > 0 and lines[first - 1].strip() and not lines[first - 1].startswith(("}", "#", " */", "*/")):
    first -= 1
lines.insert(at + 1, "    planted_pause();")
lines[first:first] = ["#include <time.h>", "static void planted_pause(void) {", "  static unsigned calls;",
    "  struct timespec begin, now;", "  if (++calls % 100 != 0) return;",
    "  clock_gettime(CLOCK_MONOTONIC, &begin);", "  do {", "    clock_gettime(CLOCK_MONOTONIC, &now);",
    "  } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 3000000L);", "}"]
open(path, "w").write("\n".join(lines))
PY
}

# Starts over unless the script and the compiler are those of the earlier run.
start_over_if_changed() {
  local key
  key=$({ cat "$0" "$root/tests/subjects/subject.sh"; "$cc" --version; } | sha256sum)
  [ "$key" = "$(cat "$here/key" 2>/dev/null)" ] && return
  rm -rf "$here"
  mkdir -p "$here"
  echo "$key" >"$here/key"
}

copy_source() {
  [ -d "$here/source" ] && return
  rm -rf "$here/source.new"
  cp -a "$root/build/subjects/$package-$version" "$here/source.new"
  (cd "$here/source.new" && prepare)
  mv "$here/source.new" "$here/source"
}

build_plain() {
  [ -e "$here/plain.built" ] && return
  say "$name: building without instrumentation ($compiler)"
  rm -rf "$here/plain"
  cp -a "$here/source" "$here/plain"
  (cd "$here/plain" && export CC=$cc CXX=$cxx && eval "$configure" && eval "$build") \
    >"$here/plain.build.log" 2>&1 ||
    { tail -20 "$here/plain.build.log"; die "the plain build failed; see $here/plain.build.log"; }
  touch "$here/plain.built"
}

build_instrumented() {
  say "$name: indexing, instrumenting everything, building ($compiler)"
  write_configuration
  (cd "$here" && "$vprof" index && "$vprof" instrument --all | tee coverage && "$vprof" build) ||
    die "the instrumented build failed; see $here/.vprof/iterations/1/build.log"
}

build_linked() {
  local runtime=$root/build/release/runtime
  [ -e "$here/linked.built" ] && return
  say "$name: building with the runtime linked in ($compiler)"
  rm -rf "$here/linked"
  cp -a "$here/source" "$here/linked"
  (cd "$here/linked" && export CC=$cc CXX=$cxx &&
    export LDFLAGS="-Wl,--no-as-needed -L$runtime -lvprof -Wl,--as-needed -Wl,-rpath,$runtime" &&
    eval "$configure" && eval "$build") >"$here/linked.build.log" 2>&1 ||
    {
      tail -20 "$here/linked.build.log"
      die "the build with the runtime failed; see $here/linked.build.log"
    }
  touch "$here/linked.built"
}

# The warnings of a build as `file:line flag`, sorted. Columns and order differ between builds.
warnings() { # log...
  sed -nE 's/^([^ :]+:[0-9]+):[0-9]+: warning: .*(\[-W[^]]*\])$/\1 \2/p' "$@" |
    sed 's#.*/\(.*/\)#\1#' | sort -u
}

# One line per test, without its time.
verdict_of_ctest() { # log
  sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*(Passed|Failed|Exception|Not Run|Timeout|Skipped).*/\1 \2/p' "$1" |
    awk '{ test = $1; $1 = ""; last[test] = $0 } END { for (test in last) print test last[test] }' | sort
}

# Runs the tests once. The plain program's must succeed.
run_tests() { # kind directory [environment...]
  local kind=$1 directory=$2 status=0 began=$SECONDS
  shift 2
  [ "$kind" = plain ] && [ -e "$here/plain.verdict" ] && return
  say "$name: its own tests, $kind"
  hand_over "$directory"
  (cd "$directory" && export -f suite && as_tester env "$@" bash -euo pipefail -c suite) \
    >"$here/$kind.log" 2>&1 || status=$?
  { verdict "$here/$kind.log"; echo "exit status $status"; } >"$here/$kind.verdict.new"
  echo "$((SECONDS - began)) s; $(tail -3 "$here/$kind.verdict.new" | tr '\n' ';')"
  [ "$kind" != plain ] || [ "$status" = 0 ] ||
    die "$name: the plain program's tests fail, so there is nothing to compare with; see $here/plain.log"
  mv "$here/$kind.verdict.new" "$here/$kind.verdict"
}

# Which of the program's own tests are unstable: those whose results differ between runs of the
# plain program, or that always fail.
find_unstable() { # runs
  local run
  rm -f "$here"/unstable.*
  for ((run = 1; run <= $1; ++run)); do
    (
      rm -f "$here/plain.verdict"
      run_tests plain "$here/plain" "CC=$cc" "CXX=$cxx"
    ) || true
    cp "$here/plain.log" "$here/unstable.$run.log"
    verdict "$here/plain.log" | LC_ALL=C sort -u >"$here/unstable.$run.verdict"
  done
  LC_ALL=C sort "$here"/unstable.*.verdict | uniq -c |
    awk -v runs="$1" '$1 != runs || /FAIL|Failed|Exception|TIMED OUT|Timeout/ { print; ++unstable }
      END { print unstable + 0, "results of", NR, "not the same, or failed, in", runs, "plain runs" }'
}

# Compares the results with the runtime in every process, and nothing instrumented, to the plain
# ones.
run_linked() {
  build_linked
  run_tests linked "$here/linked" "CC=$cc" "CXX=$cxx" \
    "VPROF_TRACE_DIR=$here/trace" VPROF_RING_MB=1 VPROF_TRACE_MB=64
  local traces
  traces=$(find "$here/trace" -name '*.vpt' | wc -l)
  echo "$traces processes left traces"
  rm -rf "$here/trace"
  [ "$traces" != 0 ] || die "$name: no process had the runtime"
  diff "$here/plain.verdict" "$here/linked.verdict" ||
    die "$name: its tests differ (< plain, > with the runtime)"
  tail -3 "$here/plain.verdict"
  echo "1 passed, 0 failed"
}

# Compares the results while sites are switched on and off to the plain ones.
run_armed() {
  local live=$here/.vprof/live driver
  say "$name: building with everything armed ($compiler)"
  write_configuration
  (cd "$here" && "$vprof" live --build) | tee "$here/armed.log"
  hand_over "$live"
  python3 "$root/tests/subjects/random_frontier.py" "$live/trace" "$live/sites.json" \
    >"$here/armed.driver" &
  driver=$!
  run_tests armed "$here/.vprof/mirror" "CC=$cc" "CXX=$cxx" "PATH=$here/.vprof/shims:$PATH" \
    "VPROF_TRACE_DIR=$live/trace" VPROF_RING_MB=1 VPROF_TRACE_MB=64
  kill "$driver"
  wait "$driver" || die "$name: the sites were not switched"
  cat "$here/armed.driver"
  echo "$(find "$live/trace" -name '*.vpt' | wc -l) processes left traces"
  rm -rf "$live"
  diff "$here/plain.verdict" "$here/armed.verdict" ||
    die "$name: its tests differ (< plain, > armed)"
  tail -3 "$here/plain.verdict"
  echo "1 passed, 0 failed"
}

# Writes vprof.json as a user would: `vprof init`, and then what only the user knows.
write_loop_configuration() {
  "$vprof" init ${catalogue:+--from "$catalogue"}
  python3 - "${loop_configure:-}" "${loop_build:-}" "${loop_run:-}" "${request:-}" <<'PY'
import json, re, sys

text = open("vprof.json").read()
for key, value in zip(("configure", "build", "run"), sys.argv[1:]):
    line = f'  "{key}": {json.dumps(value)},\n'
    if value:
        text, found = re.subn(rf'^  "{key}": .*\n', lambda _: line, text, flags=re.M)
        if not found:
            text = re.sub(r"^(\{\n)", lambda match: match[1] + line, text, count=1, flags=re.M)
request = sys.argv[4]
if request:
    # Not the first proposal, but another one.
    if f'"function": "{request}" }}' not in text:
        sys.exit(f"vprof init does not propose {request}")
    text = re.sub(r'^    (\{ "name": "request")', r"    // \1", text, flags=re.M)
    text = re.sub(rf'^    // (\{{ "name": "request", "function": "{request}" \}})', r"    \1", text, flags=re.M)
open("vprof.json", "w").write(text)
PY
}

# After six iterations at most, the planted cause must be the first factor, or the place where most
# of it happens. What is `preempted` somewhere else does not count: beside other programs, threads
# wait for a processor everywhere.
run_loop() {
  say "$name: looking for a planted cause, as vprof init proposes ($compiler)"
  echo "load of the machine: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors"
  rm -rf "$here/loop"
  cp -a "$here/source" "$here/loop"
  (cd "$here/loop" && plant && write_loop_configuration && "$vprof" check &&
    CC=$cc CXX=$cxx "$vprof" loop --auto --max-iterations 6 --json >"$here/loop.json") \
    >"$here/loop.log" 2>&1 ||
    { tail -20 "$here/loop.log"; die "the loop failed; see $here/loop.log"; }
  python3 - "$here/loop.json" "$cause" <<'PY' || die "$name: the planted cause was not found"
import json, re, sys

report = json.load(open(sys.argv[1]))
cause = re.compile(rf"(body[(])?(.*::)?{sys.argv[2]}[)]?")
print(report["interval"]["count"], "intervals,", len(report.get("iterations", [])), "iterations")
ranked = []
for factor in report["factors"][:5]:
    most = max(factor["instances"], key=lambda instance: abs(instance["share"]), default={})
    path = most.get("path", [])
    print(f"{100 * factor.get('share', 0):6.1f} %", " with ".join(factor["functions"]), "in", " > ".join(path[-3:-1]))
    found = any(cause.fullmatch(name) for name in factor["functions"] + path)
    if found or factor["functions"] != ["preempted"]:
        ranked.append(found)
sys.exit(not any(ranked[:1]))
PY
  echo "1 passed, 0 failed"
}

run_subject() {
  name=$(basename "$0" .sh)
  compiler=${1:-gcc}
  case $compiler in
    gcc) cc=gcc cxx=g++ ;;
    clang) cc=clang-19 cxx=clang++-19 ;;
    *) die "unknown compiler $compiler (known: gcc, clang)" ;;
  esac
  here=$root/build/subjects/$name-$compiler
  if [ "${2:-}" = quick ]; then
    declare -F suite_quick >/dev/null || die "$name has no quick tests"
    here+=-quick
    suite() { suite_quick; }
    export -f suite_quick
  fi
  start_over_if_changed
  mkdir -p "$here/trace"
  chmod 1777 "$here/trace"
  install_missing gcc g++ clang-19 make "${needs[@]}"
  fetch_debian_source "$package" "$version" "$root/build/subjects/$package-$version"
  copy_source
  find_vprof
  use_ccache
  if [ "${2:-}" = loop ]; then
    run_loop
    return
  fi
  build_plain
  if [ "${2:-}" = unstable ]; then
    find_unstable "${3:-5}"
    return
  fi
  run_tests plain "$here/plain" "CC=$cc" "CXX=$cxx"
  case ${2:-instrumented} in
    instrumented | quick) ;;
    linked)
      run_linked
      return
      ;;
    armed)
      run_armed
      return
      ;;
    *) die "unknown mode $2 (known: quick, linked, armed, loop, unstable)" ;;
  esac
  build_instrumented
  warnings "$here/plain.build.log" >"$here/plain.warnings"
  warnings "$here"/.vprof/iterations/1/build*.log >"$here/instrumented.warnings"

  # The shims come first on PATH in case the tests compile something. Each thread keeps only the
  # last MiB of its records.
  run_tests instrumented "$here/.vprof/mirror" "CC=$cc" "CXX=$cxx" "PATH=$here/.vprof/shims:$PATH" \
    "VPROF_TRACE_DIR=$here/trace" VPROF_RING_MB=1 VPROF_TRACE_MB=64
  echo "$(find "$here/trace" -name '*.vpt' | wc -l) processes left traces"
  rm -rf "$here/trace"

  say "$name, $compiler: the verdict"
  grep -E '^(functions|calls)' "$here/coverage"
  comm -13 "$here/plain.warnings" "$here/instrumented.warnings" >"$here/new.warnings"
  [ ! -s "$here/new.warnings" ] || {
    cat "$here/new.warnings"
    die "$name: instrumentation adds warnings"
  }
  diff "$here/plain.verdict" "$here/instrumented.verdict" ||
    die "$name: its tests differ (< plain, > instrumented)"
  tail -3 "$here/plain.verdict"
  echo "1 passed, 0 failed"
}
