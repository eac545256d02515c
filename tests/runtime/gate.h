// What a subject gets to see, and to hold up, between libvprof and libc (gate.c).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Called on the thread that makes the call, immediately before and after libc's function. NULL: not.
extern __attribute__((visibility("default"))) void (*vprof_test_gate)(const char* function,
                                                                      int is_over);

#ifdef __cplusplus
}
#endif
