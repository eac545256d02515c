# For demo.sh, test.sh and soak.sh to source: installs the packages that they need and configures
# builds. Bash.
#
# All packages are Debian 12's (main, updates, security). A machine that has them all stays as it
# is.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What each purpose needs beyond the one before it. shellcheck disable=SC2034
packages_to_build=(
  g++ gcc libc6-dev make cmake ninja-build ccache pkg-config
  clang-19 libclang-19-dev libclang-cpp19-dev llvm-19-dev # the instrumenter
  nlohmann-json3-dev libcli11-dev libfmt-dev libexpected-dev libxxhash-dev libsqlite3-dev
  libutf8proc-dev libsodium-dev libncurses-dev
  python3 ca-certificates
)
packages_to_package=(
  dpkg-dev nodejs npm # for users, with the HTML report
  python3-venv # packages from PyPI: Apache Arrow, for tables
)
packages_to_test=(
  catch2 python3-jsonschema llvm-19-tools clang-tidy-19 clang-format-19 libclang-rt-19-dev valgrind
  "${packages_to_package[@]}" chromium sqlite3 # the HTML report, exports
  zsh groff-base # completion and manual page
  git
  libboost-dev # examples/coroutines
  wrk curl procps # examples/httpd
  librocksdb-dev # examples/transaction-scheduling
  systemd # examples/fleet: systemd-analyze
  mariadb-server-core mariadb-client-core sysbench # examples/mariadb
  lintian mmdebstrap # the Debian package, and a fresh Debian to install it in
)
packages_to_soak=(
  uftrace # benchmarks/compare.sh
  liburing-dev # waits on rings
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user # the other processor
  default-jre-headless # Spark
)

started=$SECONDS

# A heading with the time since the start.
say() {
  printf '\n[%02d:%02d] %s\n' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$*"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root or sudo to run: $*"
  fi
}

# Node.js often comes from elsewhere, and its npm conflicts with Debian's.
is_installed() {
  case $1 in
    nodejs) command -v node >/dev/null && return ;;
    npm) command -v npm >/dev/null && return ;;
  esac
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

install_packages() { # package...
  command -v apt-get >/dev/null || die "this script sets up Debian 12; elsewhere, install: $*"
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    say "Set-up: all Debian packages are installed"
    return
  fi
  say "Set-up: installing Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  # --no-install-recommends halves the download: clang recommends much that no build needs.
  local log=${TMPDIR:-/tmp}/vprof-apt.$$.log
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" -o Dpkg::Use-Pty=0 >"$log" 2>&1 || {
    tail -20 "$log" >&2
    die "apt-get could not install the packages; the whole output is in $log"
  }
  rm -f "$log"
}

# The Python packages of a requirements file, and of those that it names, in build/python. What is
# there already stays.
install_python_packages() { # [requirements file]
  local wanted=${1:-$root/tests/requirements.txt} python=$root/build/python log=$root/build/python.log
  local stamp
  stamp=$python/$(cat "$root"/*/requirements.txt "$wanted" | sha256sum | cut -c1-16)
  if [ -e "$stamp" ]; then
    say "Set-up: all Python packages are installed"
    return
  fi
  say "Set-up: installing the Python packages of ${wanted#"$root"/}"
  mkdir -p "$root/build"
  { [ -x "$python/bin/pip" ] || python3 -m venv "$python"; } >"$log" 2>&1 &&
    "$python/bin/pip" install --quiet --no-compile --disable-pip-version-check -r "$wanted" >>"$log" 2>&1 || {
    tail -20 "$log" >&2
    die "pip could not install the packages; the whole output is in $log"
  }
  touch "$stamp"
}

# How many compilations may run at once: one per core, if there are 1.5 GB of memory for each. Files
# that include Clang need as much.
parallel_jobs() {
  local cores memory_kb by_memory
  cores=$(nproc)
  memory_kb=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)
  by_memory=$((memory_kb / 1500000))
  [ "$by_memory" -ge 1 ] || by_memory=1
  [ "$cores" -le "$by_memory" ] && echo "$cores" || echo "$by_memory"
}

configure() { # preset [cmake options]
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset "$@" >"$root/build/$1-configure.log" 2>&1) || {
    tail -30 "$root/build/$1-configure.log" >&2
    return 1
  }
}

# shellcheck disable=SC2034  # for the scripts that source this
parallel=$(parallel_jobs)
# Tests wait for a third of their time: for files, for sleeping programs, for one another.
# shellcheck disable=SC2034
tests_at_once=$((2 * parallel))
