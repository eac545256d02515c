# Sourced by scripts that work on programs from Debian's source packages. Bash; the caller sets nothing.
#
#   install_missing PACKAGE...                     binary packages, as root or with sudo
#   fetch_debian_source PACKAGE VERSION DIRECTORY  the unpacked source of PACKAGE VERSION-*; nothing if it is there
#   find_vprof                                     sets `vprof`: $VPROF, else the one built in this tree, else that on PATH
# shellcheck shell=bash

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "needs root or sudo for: $*"
  fi
}

# Several scripts may do this at once, as the tests do; apt gives up where another apt is at work.
with_apt_to_itself() { # command...
  (
    flock 9
    "$@" 9>&-
  ) 9>"${TMPDIR:-/tmp}/vprof-apt-$(id -u).lock"
}

install_missing() {
  local missing=()
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  with_apt_to_itself as_root apt-get update -qq
  with_apt_to_itself as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null
}

# Debian's source index, in files of our own below directory $1: the machine's list of sources is left as it is,
# whatever its format. Sets apt_options.
apt_source_options() {
  local apt=$1
  mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/cache/archives/partial"
  # The mirrors and suites are those that the machine takes its packages from, security updates included.
  # shellcheck disable=SC2016  # apt fills these in
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u | sed 's#^#deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] #' >"$apt/sources.list"
  [ -s "$apt/sources.list" ] || die "no Debian archive among apt's sources (run apt-get update first)"
  apt_options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/parts"
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
}

fetch_debian_source() {
  [ -d "$3" ] && return
  install_missing dpkg-dev xz-utils patch
  say "fetching the source package of $1 $2"
  with_apt_to_itself download_debian_source "$@"
}

download_debian_source() {
  local package=$1 version=$2 directory=$3 work apt_options=() candidate chosen=""
  work=$(dirname "$directory")
  apt_source_options "$work/apt"
  apt-get "${apt_options[@]}" update -qq
  mkdir -p "$work/download"
  # By version, newest first: the newest binary's source may be missing from the index, and what is in the index may
  # not have reached the mirror yet.
  for candidate in $(apt-cache "${apt_options[@]}" showsrc "$package" | sed -n "s/^Version: \($version.*\)/\1/p" | sort -Vru); do
    if (cd "$work/download" && apt-get "${apt_options[@]}" source -qq --download-only "$package=$candidate") 2>"$work/apt.log"; then
      chosen=$candidate
      break
    fi
  done
  [ -n "$chosen" ] || die "Debian's archive has no source of $package $version (see $work/apt.log)"
  rm -rf "$directory.unpacking"
  # apt has checked the archive's signature and the files' hashes. The name of the file leaves out the epoch.
  dpkg-source --no-check -x "$work/download/${package}_${chosen#*:}.dsc" "$directory.unpacking" >/dev/null
  # Last, so that an interrupted run starts over.
  mv "$directory.unpacking" "$directory"
  echo "$package $chosen in $directory"
}

find_vprof() {
  local tree
  tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  if [ -n "${VPROF:-}" ]; then vprof=$VPROF
  elif [ -x "$tree/build/release/driver/vprof" ]; then vprof=$tree/build/release/driver/vprof
  else vprof=$(command -v vprof) || die "no vprof: build it (scripts/demo.sh does) or set VPROF"
  fi
}
