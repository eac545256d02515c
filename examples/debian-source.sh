# For Bash scripts to source that work on programs from Debian's source packages. Defines:
#
#   install_missing PACKAGE...
#       installs the binary packages that are missing, as root or with sudo
#   fetch_debian_source PACKAGE VERSION DIRECTORY
#       unpacks the source of the newest PACKAGE whose version begins with VERSION into DIRECTORY,
#       unless that exists
#   leave_root SCRIPT ARGUMENT...
#       if this is root, hands work/ and .vprof/ beside SCRIPT over to RUN_AS (default: nobody), and
#       continues SCRIPT as that user
#   build_plain SOURCE COMMAND...
#       copies work/SOURCE beside the script to work/plain and runs the command there, unless that
#       has been done. $here is the script's directory.
#   find_vprof
#       sets `vprof`: $VPROF, else the one built in this tree, else the one on PATH
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

# Only one apt at a time can work, and the others fail. The tests run several scripts at once.
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
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  with_apt_to_itself as_root apt-get update -qq
  with_apt_to_itself as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" \
    >/dev/null
}

# Configures apt to read Debian's source index into directory $1, so that the machine's own list of
# sources stays as it is, whatever its format. Sets apt_options.
apt_source_options() {
  local apt=$1
  mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/cache/archives/partial"
  # The same mirrors and suites as for the machine's packages, security updates included.
  # shellcheck disable=SC2016  # apt fills these in
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' |
    sort -u | sed 's#^#deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] #' \
    >"$apt/sources.list"
  [ -s "$apt/sources.list" ] ||
    die "apt's sources include no Debian archive; run apt-get update first"
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
  # Tries all versions, newest first. The index may lack the source of the newest binary, and a
  # mirror may not have everything yet that is in the index.
  for candidate in $(apt-cache "${apt_options[@]}" showsrc "$package" |
    sed -n "s/^Version: \($version.*\)/\1/p" | sort -Vru); do
    if (cd "$work/download" &&
      apt-get "${apt_options[@]}" source -qq --download-only "$package=$candidate") \
      2>"$work/apt.log"; then
      chosen=$candidate
      break
    fi
  done
  [ -n "$chosen" ] || die "Debian's archive has no source of $package $version (see $work/apt.log)"
  rm -rf "$directory.unpacking"
  # --no-check: apt has already checked the archive's signature and the files' hashes. The name of
  # the file has no epoch.
  dpkg-source --no-check -x "$work/download/${package}_${chosen#*:}.dsc" "$directory.unpacking" \
    >/dev/null
  # This comes last, so that an interrupted run starts over.
  mv "$directory.unpacking" "$directory"
  echo "$package $chosen in $directory"
}

leave_root() {
  local script=$1 user=${RUN_AS:-nobody} directory
  [ "$(id -u)" = 0 ] || return 0
  shift
  directory=$(dirname "$script")
  id "$user" >/dev/null 2>&1 || die "there is no user $user; set RUN_AS"
  setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups test -x "$directory" ||
    die "user $user may not enter $directory; move the tree, or run this as an ordinary user"
  mkdir -p "$directory/work" "$directory/.vprof"
  chown -R "$user:$(id -g "$user")" "$directory/work" "$directory/.vprof"
  say "continuing as $user"
  exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
    env HOME="$directory/work" "$script" "$@"
}

build_plain() { # with ccache, if there is one, since the same is built in other directories
  local work=$here/work source=$1
  shift
  [ ! -e "$work/plain.built" ] || return 0
  say "building $source without instrumentation"
  rm -rf "$work/plain"
  cp -a "$work/$source" "$work/plain"
  (cd "$work/plain" && PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 "$@") \
    >"$work/plain.log" 2>&1 || die "the plain build failed; see $work/plain.log"
  touch "$work/plain.built"
}

find_vprof() {
  local tree
  tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  if [ -n "${VPROF:-}" ]; then vprof=$VPROF
  elif [ -x "$tree/build/release/driver/vprof" ]; then vprof=$tree/build/release/driver/vprof
  else
    vprof=$(command -v vprof) ||
      die "there is no vprof; build it (scripts/demo.sh does) or set VPROF"
  fi
}
