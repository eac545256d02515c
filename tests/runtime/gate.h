// Lets a subject observe and hold up calls from libvprof to libc (gate.c).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Called on the calling thread, immediately before and after libc's function. NULL: nothing is
// called.
extern __attribute__((visibility("default"))) void (*vprof_test_gate)(const char* function,
                                                                      int is_over);

#ifdef __cplusplus
}
#endif
