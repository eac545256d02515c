#!/bin/sh
# Builds the httpd in the current directory, together with the apr and apr-util in its srclib/, and
# installs all into ./installed.
#
# One after the other: the configure scripts of Debian's apr-util and httpd need an apr that is
# installed (--with-included-apr fails). What is configured or built already is left as it is.
set -eu

installed=$PWD/installed
# Of the modules, only those that the workload can load.
modules=${MODULES:-authz_core unixd mime dir log_config file_cache cache cache_disk}

configure_and_make() { # option of configure...
  [ -e config.status ] || ./configure -q --prefix="$installed" CFLAGS='-O2 -g' "$@"
  make -s -j2
}
(cd srclib/apr && configure_and_make && make -s install)
(cd srclib/apr-util && configure_and_make --with-apr="$installed" && make -s install)
# Debian's patches expect these macros, which its rules define in the same way. Which MPM is used is
# a matter of the server's configuration.
configure_and_make --with-apr="$installed" --with-apr-util="$installed" \
  --enable-mpms-shared='event prefork' --with-mpm=event \
  --enable-modules=none --enable-mods-shared="$modules" \
  CPPFLAGS="-DPLATFORM='\"Debian\"' -DBUILD_DATETIME='\"2026-01-01\"'"
# Not `make install`, which copies the manual and all headers as well, in each iteration.
for part in server modules; do make -s -C "$part" install; done
make -s program-install install-conf
