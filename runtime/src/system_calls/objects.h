// The numbers of objects behind descriptors and of processes (streams.h), as waits and releases
// name them. Never 0, which means "no object"; objects of different kinds have different numbers.
#ifndef VPROF_OBJECTS_H
#define VPROF_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

// What the hash of an object begins with. Far above all that is mixed into it first: descriptors,
// processes, families and devices (a major number is shifted by 32). Otherwise two kinds and two
// values could cancel out: kind ^ value would be the same.
#define VPROF_OBJECT_FILE (UINT64_C(1) << 48)     /* device, inode */
#define VPROF_OBJECT_FLOW (UINT64_C(2) << 48)     /* two addresses */
#define VPROF_OBJECT_LISTENER (UINT64_C(3) << 48) /* family, then port or path */
#define VPROF_OBJECT_NUMBER (UINT64_C(4) << 48)   /* descriptor, within its process */
#define VPROF_OBJECT_SIGNALS (UINT64_C(5) << 48)  /* process */

static inline uint64_t vprof_object_mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 29;
  return hash != 0 ? hash : 1;  // 0 only if both were equal
}

static inline uint64_t vprof_object_mix_bytes(uint64_t hash, const void* data, size_t bytes) {
  const unsigned char* at = (const unsigned char*)data;
  for (size_t i = 0; i < bytes; ++i) {
    // The kernel fills in addresses that were zeroed before.
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
    hash = vprof_object_mix(hash, at[i]);
  }
  return hash;
}

// A pipe, file or socket, by its inode.
static inline uint64_t vprof_object_file(uint64_t device, uint64_t inode) {
  return vprof_object_mix(vprof_object_mix(VPROF_OBJECT_FILE, device), inode);
}

static inline uint64_t vprof_object_number(uint64_t descriptor) {
  return vprof_object_mix(VPROF_OBJECT_NUMBER, descriptor);
}

static inline uint64_t vprof_object_signals(uint64_t pid) {
  return vprof_object_mix(VPROF_OBJECT_SIGNALS, pid);
}

static inline uint64_t vprof_object_port(uint64_t family, uint64_t port) {
  return vprof_object_mix(vprof_object_mix(VPROF_OBJECT_LISTENER, family), port);
}

#endif
