#!/bin/sh
# Builds what the workload needs of the MariaDB in the current directory, in ./bld: the server with
# InnoDB, Aria and MyISAM, the client, and what mariadb-install-db calls.
#
#   build.sh configure [DIRECTORY OPTION...]   runs CMake, for ./bld or another directory
#   build.sh                                   builds
#
# BUILD_JOBS is the number of compilers at a time (default: the number of processors).
set -eu

if [ "${1:-}" = configure ]; then
  build=${2:-bld}
  [ $# -lt 2 ] || shift
  shift
  # No option names what is not built anyway: the targets below need none of the optional plugins
  # that are modules. The flags are those of RelWithDebInfo without -g, so that building is faster.
  exec cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -DWITHOUT_DYNAMIC_PLUGINS=ON -DWITH_UNIT_TESTS=OFF -DWITH_EMBEDDED_SERVER=OFF \
    -DWITH_WSREP=OFF -DWITH_MARIABACKUP=OFF -DPLUGIN_FEEDBACK=NO -DPLUGIN_SEQUENCE=NO \
    -DPLUGIN_USER_VARIABLES=NO -DPLUGIN_USERSTAT=NO -DPLUGIN_TYPE_INET=NO -DPLUGIN_TYPE_UUID=NO \
    -DPLUGIN_AUTH_SOCKET=NO -DWITH_SSL=system -DWITH_ZLIB=system -DWITH_PCRE=system \
    -DWITH_LIBFMT=system -DWITH_LIBAIO=ON -DWITH_SYSTEMD=no -DUPDATE_SUBMODULES=OFF "$@"
fi

exec ninja -C bld -j "${BUILD_JOBS:-$(nproc)}" mariadbd mariadb my_print_defaults resolveip
