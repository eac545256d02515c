// The constructor: what does the environment want?
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

VPROF_RT_DATA unsigned char vprof_site_on[VPROF_RT_SITES];
_Static_assert(VPROF_RT_SITES == VPROF_MAX_SITES,
               "the table has a byte for every site of the format");

struct vprof_settings vprof_settings;

enum { kDefaultCapacityMb = 8192, kLeastCapacityMb = 1 };
enum { kWindowMb = 64, kMostRingMb = 1 << 20 };

void vprof_rt_set_site(unsigned id, int on) {
  if (id == 0 || id >= VPROF_RT_SITES) {
    return;
  }
  __atomic_store_n(&vprof_site_on[id], on != 0 && vprof_active() ? 1 : 0, __ATOMIC_RELAXED);
}

void vprof_all_sites(int on) { memset(vprof_site_on + 1, on, VPROF_RT_SITES - 1); }

// "12,20-29": these only. Anything that is no number ends the list, so that a mistake measures too little, not too much.
static void select_sites(const char* list) {
  while (*list >= '0' && *list <= '9') {
    char* end = NULL;
    unsigned long first = strtoul(list, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
      last = strtoul(end + 1, &end, 10);
    }
    for (unsigned long id = first; id <= last && id < VPROF_RT_SITES; ++id) {
      if (id != 0) {
        vprof_site_on[id] = 1;
      }
    }
    list = *end == ',' ? end + 1 : end;
  }
}

// Standard error is still what the program was started with, so this is the one place that may write to it.
static void complain(const char* directory, const char* why) {
  char text[VPROF_PATH_MAX + 256];
  const int length =
      snprintf(text, sizeof text, "vprof: VPROF_TRACE_DIR=%.4000s: %s; nothing is recorded\n",
               directory, why);
  if (length > 0 && vprof_syscall(SYS_write, STDERR_FILENO, (long)text, length, 0, 0, 0) < 0) {
    return;  // nobody listens
  }
}

// Absolute, since the file is made at the first record and the program may have changed its directory by then.
static bool set_directory(const char* directory) {
  char* out = vprof_settings.directory;
  size_t used = 0;
  if (directory[0] != '/') {
    if (getcwd(out, VPROF_PATH_MAX) == NULL) {
      return complain(directory, strerror(errno)), false;
    }
    used = strlen(out);
    if (used + 1 < VPROF_PATH_MAX) {
      out[used++] = '/';
    }
  }
  if (used + strlen(directory) >= VPROF_PATH_MAX) {
    return complain(directory, strerror(ENAMETOOLONG)), false;
  }
  strcpy(out + used, directory);
  if (access(out, W_OK | X_OK) != 0) {
    return complain(directory, strerror(errno)), false;
  }
  return true;
}

static void set_capacity(const char* megabytes) {
  unsigned long long mb = megabytes != NULL ? strtoull(megabytes, NULL, 10) : 0;
  if (mb == 0) {
    mb = kDefaultCapacityMb;
  }
  if (mb < kLeastCapacityMb) {
    mb = kLeastCapacityMb;
  }
  if (mb > 1ull << 24) {
    mb = 1ull << 24;
  }
  vprof_settings.capacity = mb << 20;
}

static void set_window(const char* megabytes) {
  const unsigned long long mb = megabytes != NULL ? strtoull(megabytes, NULL, 10) : kWindowMb;
  vprof_settings.window = (mb > kMostRingMb ? kMostRingMb : mb) << 20;
}

static void set_ring(const char* megabytes) {
  unsigned long long mb = megabytes != NULL ? strtoull(megabytes, NULL, 10) : 0;
  if (mb > kMostRingMb) {
    mb = kMostRingMb;
  }
  vprof_settings.ring = mb << 20;
}

// For tests: factor on how long the runtime waits for its helper or for the disk before it gives up
// and drops records. A test must not depend on how busy the machine is.
static void set_patience(const char* factor) {
  const unsigned long long wanted = factor != NULL ? strtoull(factor, NULL, 10) : 0;
  vprof_settings.patience = wanted == 0 ? 1 : wanted > 1000000 ? 1000000 : wanted;
}

// The classes of waits that are not wanted: "mutex,sem". An unknown name is passed over; the driver has checked them.
static void select_classes(const char* off) {
  static const struct {
    const char* name;
    uint32_t class;
  } names[] = {VPROF_CLASS_NAMES};
  vprof_settings.classes = VPROF_CLASS_ALL;
  while (off != NULL && *off != 0) {
    const size_t length = strcspn(off, ",");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
      if (strlen(names[i].name) == length && memcmp(names[i].name, off, length) == 0) {
        vprof_settings.classes &= ~names[i].class;
      }
    }
    off += length;
    if (*off == ',') {
      ++off;
    }
  }
}

__attribute__((constructor)) static void start(void) {
  const int errno_before = errno;
  vprof_real_init();
  const char* directory = getenv("VPROF_TRACE_DIR");
  if (directory != NULL && directory[0] != 0 && set_directory(directory)) {
    const char* sites = getenv("VPROF_SITES");
    vprof_settings.sites = sites == NULL || strcmp(sites, "off") != 0;
    set_capacity(getenv("VPROF_TRACE_MB"));
    set_window(getenv("VPROF_WINDOW_MB"));
    set_ring(getenv("VPROF_RING_MB"));
    select_classes(getenv("VPROF_WAITS_OFF"));
    set_patience(getenv("VPROF_PATIENCE"));
    vprof_clock_init();
    vprof_helper_init();
    vprof_fork_init();
    vprof_trace.pid = getpid();
    vprof_settings.family = (vprof_clock_read().realtime_ns << 20 ^ (uint64_t)vprof_trace.pid) | 1;
    atomic_store(&vprof_trace.state, VPROF_READY);
    if (vprof_settings.sites) {
      vprof_waiters_init();
      vprof_preemption_init();
      if (sites == NULL || sites[0] == 0 || strcmp(sites, "on") == 0) {
        vprof_all_sites(1);
      } else {
        select_sites(sites);
      }
    }
  }
  errno = errno_before;
}
