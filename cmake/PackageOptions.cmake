# Read by cpack.
set(ENV{VPROF_KEEP_SYMBOLS} 1)
