#!/usr/bin/env bash
# Builds the Debian package from this tree: build/release/package/vprof_VERSION_ARCHITECTURE.deb,
# and beside it one of the debug symbols. Installs the packages that it needs.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages "${packages_to_build[@]}" "${packages_to_package[@]}"
install_python_packages "$root/tables/requirements.txt"

say "Building vprof (build/release)"
configure release
cmake --build "$root/build/release" --parallel "$parallel" --target vprof vprof_described \
  vprof_html_page

say "Packaging"
made=$root/build/release/package
rm -rf "$made"
(cd "$root/build/release" && cpack)
printf '\nInstall it with\n  apt install %s\n' "$made"/vprof_*.deb
