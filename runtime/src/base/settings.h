// What the environment asks for (docs/trace-format.md lists the variables).
#ifndef VPROF_SETTINGS_H
#define VPROF_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { VPROF_PATH_MAX = 4096 };

// Written by the constructor, constant afterwards.
struct vprof_settings {
  char directory[VPROF_PATH_MAX];  // absolute
  uint64_t capacity;               // bytes: size limit of one process's file
  uint64_t window;                 // bytes of trace before full chunks are written out
  uint64_t patience;               // factor on every time limit; 1 except in tests
  uint64_t ring;                   // bytes that each thread keeps; 0: everything
  uint64_t family;                 // the same in all processes that fork from one another
  bool sites;                      // false: only intervals are recorded
  uint32_t classes;                // enum vprof_class: the waits that are recorded
  // Not from the environment: a seccomp filter is in force (interpose/confine.c). A system call
  // that the program does not make by itself may be the end of it.
  atomic_bool confined;
};
extern struct vprof_settings vprof_settings;

static inline bool vprof_confined(void) {
  return atomic_load_explicit(&vprof_settings.confined, memory_order_relaxed);
}

// Says on standard error why nothing is recorded. Constructor only.
void vprof_settings_refuse(const char* what, const char* path, const char* why);

// Says `text`, of at most 240 bytes, on standard error.
void vprof_settings_warn(const char* text);

// Fills in all but `family`. False: no trace is wanted, or none can be written, which it reports on
// standard error. Constructor only.
bool vprof_settings_read(void);

#endif
