#!/usr/bin/env bash
# The checks before a change goes in: style, build, unit tests (also with AddressSanitizer and
# UBSan), and the quickstart from end to end. Installs the packages that it needs. No test runs
# twice: one that fails has failed. The last line is "N passed, N failed".
#
#   test.sh            the checks for every change (docs/contributing.md says how long they take)
#   test.sh --all      also ThreadSanitizer, clang-tidy on every file, the tutorial, the
#                      installation, the Debian package, and nginx and memcached with everything
#                      instrumented: what continuous integration runs
#   test.sh --quick    only format, layers, build and unit tests
#
# soak.sh runs what takes even longer.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/checks.sh
. "$root/scripts/checks.sh"

extent=normal
case "${1:-}" in
  "") ;;
  --all) extent=all ;;
  --quick) extent=quick ;;
  *) die "unknown option $1 (known: --all, --quick)" ;;
esac

our_sources() { # every C and C++ file except golden ones, which test their own layout
  git -C "$root" ls-files -z -- '*.c' '*.cpp' '*.h' '*.hpp' |
    grep -zvE '(^|/)(golden|cases|fixtures|inputs|data)/' | sed -z "s#^#$root/#"
}

check_format() {
  our_sources | xargs -0 clang-format-19 --dry-run -Werror
}

# A change: each file alone, with the headers that it includes itself, and with Clang's analyzer.
# Everything: component by component, since most of the time goes into headers, and without the
# analyzer, which takes more than all other checks together, and the slowest of these. soak.sh runs
# both on everything.
check_tidy() {
  if [ "$extent" = all ]; then
    # Without the analyzer, clang-tidy complains about the templates of libstdc++ itself.
    tidy_components --extra-arg=-Wno-deprecated-declarations \
      '--checks=-bugprone-suspicious-include,-clang-analyzer-*,-performance-unnecessary-value-param'
  else
    configure tidy || return
    local base
    base=$(git -C "$root" merge-base HEAD origin/main 2>/dev/null || git -C "$root" rev-parse HEAD)
    product_files "$root/build/tidy" "$base" |
      xargs -0 -r -P "$parallel" -n 1 clang-tidy-19 -p "$root/build/tidy" --quiet
  fi
}

# Runs the reader on random bytes for ten seconds; soak.sh does so for longer.
fuzz() {
  "$root/build/asan-ubsan/tests/fuzz/fuzz_reader" \
    -max_total_time=10 -rss_limit_mb=1024 -timeout=10 -len_control=0 -max_len=16384
}

install_packages "${packages_to_build[@]}" "${packages_to_test[@]}"
install_python_packages
mkdir -p "$logs"
cd "$root"

check "Format (clang-format)" check_format || true
if ! check "Build: release" build release; then
  finish
  exit 1
fi
run_ctest "Tests: release" "$root/build/release" -LE 'e2e|soak' -j "$tests_at_once"
if [ "$extent" != quick ]; then
  check "Static analysis (clang-tidy)" check_tidy || true
  if check "Build: asan-ubsan" build asan-ubsan; then
    run_ctest "Tests: asan-ubsan" "$root/build/asan-ubsan" -LE 'e2e|soak' -j "$tests_at_once" \
      -E 'confidence intervals contain'  # arithmetic
    check "Fuzzing: the reader" fuzz || true
  fi
  run_ctest "End to end: quickstart, interruption" "$root/build/release" -L e2e -LE 'all|soak'
fi
if [ "$extent" = all ]; then
  if check "Build: tsan" build tsan; then
    # Without the longest of those that have one thread.
    run_ctest "Tests: tsan" "$root/build/tsan" -LE 'e2e|soak' -j "$tests_at_once" \
      -E 'confidence intervals contain|truncated anywhere|bits flipped|long chain of calls|random (programs|coroutines|event loops)'
  fi
  run_ctest "End to end: tutorial, package, nginx and memcached instrumented" "$root/build/release" \
    -L all -j "$tests_at_once"
fi
finish
