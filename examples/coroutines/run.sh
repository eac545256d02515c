#!/bin/sh
# Profiles the shop until a function explains its variance. Needs vprof, CMake, and libboost-dev.
set -eu
cd "$(dirname "$0")"
exec vprof loop --auto "$@"
