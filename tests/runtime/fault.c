// Preloaded: makes one call of one function fail. VPROF_TEST_FAULT="mmap 3 12": the third call of
// mmap, with errno 12. libc's own calls do not come here, so nearly all that do are the runtime's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PUBLIC __attribute__((visibility("default")))

static int fails(const char* function) {
  static atomic_int calls;
  char name[32];
  int number = 0;
  int error = 0;
  const char* fault = getenv("VPROF_TEST_FAULT");
  if (fault == NULL || sscanf(fault, "%31s %d %d", name, &number, &error) != 3) {
    return 0;
  }
  if (strcmp(name, function) != 0 || atomic_fetch_add(&calls, 1) + 1 != number) {
    return 0;
  }
  errno = error;
  return 1;
}

#define REAL(name, type) \
  static type* real;     \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

typedef void* mmap_type(void*, size_t, int, int, int, off_t);
PUBLIC void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  REAL(mmap, mmap_type);
  return fails("mmap") ? MAP_FAILED : real(at, bytes, protection, flags, fd, offset);
}

typedef int ftruncate_type(int, off_t);
PUBLIC int ftruncate(int fd, off_t bytes) {
  REAL(ftruncate, ftruncate_type);
  return fails("ftruncate") ? -1 : real(fd, bytes);
}

typedef int open_type(const char*, int, ...);
PUBLIC int open(const char* path, int flags, ...) {
  REAL(open, open_type);
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return fails("open") ? -1 : real(path, flags, mode);
}

typedef int fstat_type(int, struct stat*);
PUBLIC int fstat(int fd, struct stat* status) {
  REAL(fstat, fstat_type);
  return fails("fstat") ? -1 : real(fd, status);
}

typedef ssize_t pwrite_type(int, const void*, size_t, off_t);
PUBLIC ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  REAL(pwrite, pwrite_type);
  return fails("pwrite") ? -1 : real(fd, data, bytes, offset);
}

typedef int rename_type(const char*, const char*);
PUBLIC int rename(const char* from, const char* to) {
  REAL(rename, rename_type);
  return fails("rename") ? -1 : real(from, to);
}

typedef int madvise_type(void*, size_t, int);
PUBLIC int madvise(void* at, size_t bytes, int advice) {
  REAL(madvise, madvise_type);
  return fails("madvise") ? -1 : real(at, bytes, advice);
}
