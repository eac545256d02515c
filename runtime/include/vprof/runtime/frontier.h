/* The control file of a live run: which sites are on, for all processes of a program.
 *
 *   <trace directory>/frontier
 *
 *   +----------------------------+ 0
 *   | vprof_frontier_header      |   the driver says that it is there, every 250 ms
 *   +----------------------------+ 4096
 *   | one byte per site          |   1: on, 0: off; byte 0 is not a site
 *   +----------------------------+ 4096 + VPROF_FRONTIER_SITES
 *
 *   vprof   --stores bytes-->   frontier   <--mapped over vprof_site_on--   each process
 *
 * The driver makes the file, with mode 0600, before the program starts; an armed program that finds
 * none makes it itself. libvprof maps it in its constructor. So every process sees a store of the
 * driver at once, without a system call.
 * docs/trace-format.md says what each side must do.
 *
 * The fields from heartbeat_ns on change while the program runs: load and store them atomically.
 * This header includes only <stdint.h>. C and C++.
 */
#ifndef VPROF_RUNTIME_FRONTIER_H
#define VPROF_RUNTIME_FRONTIER_H

#include <stdint.h>

#define VPROF_FRONTIER_NAME "frontier"
#define VPROF_FRONTIER_MAGIC 0x545246464f525056ull /* "VPROFFRT" */
#define VPROF_FRONTIER_VERSION 2u
#define VPROF_FRONTIER_HEADER_BYTES 4096u
#define VPROF_FRONTIER_SITES (1u << 20) /* VPROF_RT_SITES */
#define VPROF_FRONTIER_BYTES (VPROF_FRONTIER_HEADER_BYTES + VPROF_FRONTIER_SITES)

/* In heartbeat_ns: somebody drives, and what happens is recorded. */
#define VPROF_FRONTIER_RECORDING 1ull

/* A driver whose heartbeat is older than this counts as dead. */
#define VPROF_FRONTIER_STALE_NS 2000000000ull

struct vprof_frontier_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes; /* VPROF_FRONTIER_HEADER_BYTES */
  uint64_t sites;        /* VPROF_FRONTIER_SITES */
  /* CLOCK_MONOTONIC in ns, rounded to an odd or even number. The driver stores it at least every
   * 250 ms. 0: nobody drives, so nothing is recorded. Even: the driver has paused the recording,
   * and nothing is recorded either. A driver that leaves switches all sites off and stores 0; a
   * process that finds it stale does both. */
  uint64_t heartbeat_ns;
  uint64_t epoch; /* changes of the sites so far; for people who look */
  /* A process that records more than this switches all sites off. 0: no limit. */
  uint64_t most_records_per_second;
  /* How often a process has switched all sites off, counted when that is done. A driver that sees
   * it change must store its sites again, or choose fewer. */
  uint64_t switched_off;
  uint64_t driver_pid;
  /* How often nobody drove any more. Whoever stores heartbeat_ns = 0 adds 1 before that, so that a
   * process that did not look meanwhile learns that it has missed something. */
  uint64_t undriven;
  /* How often recording has stopped, because nobody drove any more or for a pause: grows before
   * heartbeat_ns says so. */
  uint64_t gaps;
  uint8_t reserved[VPROF_FRONTIER_HEADER_BYTES - 8 - 2 * 4 - 8 * 8];
};

#ifdef __cplusplus
static_assert(sizeof(struct vprof_frontier_header) == VPROF_FRONTIER_HEADER_BYTES,
              "layout is part of the format");
#else
_Static_assert(sizeof(struct vprof_frontier_header) == VPROF_FRONTIER_HEADER_BYTES,
               "layout is part of the format");
#endif

#endif
