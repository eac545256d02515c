#define _GNU_SOURCE
#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/raw_syscall.h"
#include "vprof/runtime/trace_format.h"

struct vprof_settings vprof_settings;

enum { kDefaultCapacityMb = 8192, kLeastCapacityMb = 1 };
enum { kWindowMb = 64, kMostRingMb = 1 << 20 };

// Only here does libvprof write to standard error: before main() it still is what the program was
// started with.
static void write_line(const char* text, int length) {
  if (length > 0 && vprof_syscall(SYS_write, STDERR_FILENO, (long)text, length, 0, 0, 0) < 0) {
    return;  // standard error is closed
  }
}

void vprof_settings_warn(const char* text) {
  char line[256];
  write_line(line, snprintf(line, sizeof line, "vprof: %s\n", text));
}

void vprof_settings_refuse(const char* what, const char* path, const char* why) {
  char text[VPROF_PATH_MAX + 256];
  write_line(text, snprintf(text, sizeof text, "vprof: %s%.4000s: %s; nothing is recorded\n", what,
                            path, why));
}

static void complain(const char* directory, const char* why) {
  vprof_settings_refuse("VPROF_TRACE_DIR=", directory, why);
}

// The file is made at the first record. The program may have changed its directory by then, so the
// path is made absolute now.
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

// For tests, which must not depend on how busy the machine is: a factor on how long the runtime
// waits for its helper or the disk before it gives up.
static void set_patience(const char* factor) {
  enum { kMostPatience = 1000000 };
  const unsigned long long wanted = factor != NULL ? strtoull(factor, NULL, 10) : 1;
  vprof_settings.patience = wanted > kMostPatience ? kMostPatience : wanted == 0 ? 1 : wanted;
}

// `off`: the classes not to record, such as "mutex,sem". Unknown names are ignored; the driver has
// checked them.
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

static bool is_off(const char* sites) { return sites != NULL && strcmp(sites, "off") == 0; }

bool vprof_settings_read(void) {
  // Not in a program that runs with more rights than whoever started it.
  const char* directory = secure_getenv("VPROF_TRACE_DIR");
  if (directory == NULL || directory[0] == 0 || !set_directory(directory)) {
    return false;
  }
  vprof_settings.sites = !is_off(getenv("VPROF_SITES"));
  set_capacity(getenv("VPROF_TRACE_MB"));
  set_window(getenv("VPROF_WINDOW_MB"));
  set_ring(getenv("VPROF_RING_MB"));
  select_classes(getenv("VPROF_WAITS_OFF"));
  set_patience(getenv("VPROF_PATIENCE"));
  return true;
}
