// Preloaded into vprof: while there is a file `full` in its working directory, the disk has no room
// for what `vprof watch` copies.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

FILE* fopen(const char* path, const char* mode) {
  FILE* (*original)(const char*, const char*) =
      (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
  if (strstr(path, "watch/window/") != NULL && access("full", F_OK) == 0) {
    errno = ENOSPC;
    return NULL;
  }
  return original(path, mode);
}
