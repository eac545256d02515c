// A program that is not instrumented. It loads a library that is, which brings libvprof with it.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static void* run(void* library) {
  void (*function)(int) = NULL;
  *(void**)&function = dlsym(library, "plugin_work");
  if (function != NULL) {
    function(1000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    return 4;
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, library) != 0) {
    return 5;
  }
  run(library);
  return pthread_join(thread, NULL);
}
