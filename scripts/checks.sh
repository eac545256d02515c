# For test.sh and soak.sh to source: runs checks and counts what passed and what failed. Bash.
# shellcheck shell=bash disable=SC2154  # setup.sh sets root and parallel

passed=0
failed=0
skipped=0
failures=()
last_words=()
timings=()
logs=$root/build/test-logs

log_of() { # name
  echo "$logs/${1//[^a-zA-Z0-9]/-}.log"
}

# Prints the times, what failed, and the line with the totals. Fails if a check has failed.
finish() {
  say "Done"
  local line
  for line in "${timings[@]}"; do echo "$line"; done
  for line in "${last_words[@]}"; do printf '%s\n' "$line"; done
  for line in "${failures[@]}"; do echo "failed: $line"; done
  if [ "$skipped" = 0 ]; then
    echo "$passed passed, $failed failed"
  else
    echo "$passed passed, $failed failed, $skipped skipped"
  fi
  [ "$failed" = 0 ]
}

record() { # name status: counts a check as one test
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$1")
  fi
}

timed() { # name seconds
  timings+=("$(printf '%5d s  %s' "$2" "$1")")
}

# Runs a check. Prints its output only if it fails, except lines that begin with `note: `.
check() { # name command...
  local name=$1 log status=0 before=$SECONDS
  log=$(log_of "$name")
  shift
  say "$name"
  "$@" >"$log" 2>&1 || status=$?
  record "$name" "$status"
  timed "$name" $((SECONDS - before))
  if [ "$status" = 0 ]; then
    echo "ok ($((SECONDS - before)) s)"
    sed -n '/^note: /p' "$log"
  else
    tail -40 "$log"
    echo "FAILED ($((SECONDS - before)) s); the whole output is in $log"
  fi
  return "$status"
}

count_of() { # log state: the number of tests that ctest's summary lists with this state
  grep -cE "^[[:space:]]+[0-9]+ - .* \\($2\\)$" "$1" || true
}

# The last lines that each failed test printed, below its name.
last_words_of() { # log
  awk '
    function tell(i) { for (i = n > 8 ? n - 7 : 1; i <= n; ++i) print "  " said[i]; n = 0; failed = 0 }
    /\*\*\*(Failed|Timeout|Exception|Not Run)/ { tell(); print; failed = 1; next }
    /^ *Start +[0-9]+:|^ *[0-9]+\/[0-9]+ Test +#|tests passed, / { if (failed) tell() }
    failed && NF { said[++n] = $0 }
  ' "$1"
}

# Runs some tests with ctest and adds up their counts. Each test runs once.
run_ctest() { # name directory [ctest options]
  local name=$1 directory=$2 log total bad not_run before=$SECONDS
  shift 2
  log=$(log_of "$name")
  say "$name"
  ctest --test-dir "$directory" --output-on-failure --no-tests=error "$@" >"$log" 2>&1 || true
  timed "$name" $((SECONDS - before))
  total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log" | tail -1)
  if [ -z "$total" ]; then
    tail -20 "$log"
    record "$name (no test ran)" 1
    return
  fi
  bad=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of.*/\1/p' "$log" | tail -1)
  not_run=$(count_of "$log" 'Skipped')
  if [ "$bad" != 0 ]; then
    grep -vE '^ *[0-9]+/[0-9]+ Test +#.*(Passed|Skipped)|^ *Start ' "$log" | tail -80
    last_words+=("$(last_words_of "$log")")
    failures+=("$name: $bad of $total tests, see $log")
  fi
  passed=$((passed + total - bad - not_run))
  failed=$((failed + bad))
  skipped=$((skipped + not_run))
  echo "$((total - bad - not_run)) of $total passed in $((SECONDS - before)) s"
}

build() { # preset [cmake options]
  configure "$@" && cmake --build "$root/build/$1" --parallel "$parallel"
}

# The product files in a compilation database, each followed by a zero byte; of these, if there is a
# base, the ones that differ from it. A file that includes those of a component stands for them.
product_files() { # build folder [base]
  python3 - "$root" "$1" "${2:-}" <<'PYTHON'
import json, os, re, subprocess, sys

root, build, base = sys.argv[1:]
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
    files = {os.path.join(entry["directory"], entry["file"]) for entry in json.load(file)}
changed = None
if base:
    listed = subprocess.run(["git", "-C", root, "diff", "--name-only", base],
                            check=True, capture_output=True, text=True)
    changed = set(listed.stdout.split())
ours = ("support", "annotations", "analyzer", "driver", "instrumenter", "report", "runtime", "tables")
for path in sorted(files):
    parts = {path}
    if "/Unity/" in path:
        with open(path, encoding="utf-8") as file:
            parts = set(re.findall(r'^#include "(.*)"', file.read(), re.M))
    parts = {os.path.relpath(part, root) for part in parts}
    is_ours = any(part.split(os.sep)[0] in ours for part in parts)
    if is_ours and (changed is None or parts & changed):
        sys.stdout.write(path + "\0")
PYTHON
}

# Every product file with clang-tidy, component by component.
tidy_components() { # [clang-tidy options]
  product_files "$root/build/release" |
    xargs -0 -r -P "$parallel" -n 1 clang-tidy-19 -p "$root/build/release" --quiet "$@"
}
