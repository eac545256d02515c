// Preloaded into vprof: the signal $CUT_SHORT arrives during its first sendfile(), which copies a
// file. As in the kernel, the call then fails with EINTR unless the handler restarts calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/sendfile.h>

static int pending;

__attribute__((constructor)) static void begin(void) {
  pending = atoi(getenv("CUT_SHORT"));
  unsetenv("LD_PRELOAD");  // vprof's children copy undisturbed
}

ssize_t sendfile(int to, int from, off_t* offset, size_t count) {
  ssize_t (*original)(int, int, off_t*, size_t) =
      (ssize_t(*)(int, int, off_t*, size_t))dlsym(RTLD_NEXT, "sendfile");
  if (pending != 0) {
    struct sigaction action;
    sigaction(pending, NULL, &action);
    raise(pending);
    pending = 0;
    if ((action.sa_flags & SA_RESTART) == 0) {
      errno = EINTR;
      return -1;
    }
  }
  return original(to, from, offset, count);
}
