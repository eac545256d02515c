#!/usr/bin/env bash
# From a fresh clone to a first report: installs packages, builds, and runs `vprof loop --auto` on
# examples/quickstart.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages "${packages_to_build[@]}"

say "Building vprof (build/release)"
configure release
cmake --build "$root/build/release" --parallel "$parallel" --target vprof
vprof=$root/build/release/driver/vprof

# In a copy, so that the demo changes nothing in the tree and always starts from the beginning.
demo=$root/build/demo/quickstart
say "Profiling examples/quickstart (a copy in build/demo/quickstart)"
rm -rf "$demo"
mkdir -p "$(dirname "$demo")"
cp -R "$root/examples/quickstart" "$demo"
rm -rf "$demo/.vprof" "$demo/build"
(cd "$demo" && "$vprof" loop --auto)

say "What this means"
"$vprof" -C "$demo" report --json >"$demo/report.json"
python3 "$root/scripts/explain.py" "$demo/report.json"
