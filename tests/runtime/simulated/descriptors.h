// Simulated descriptors: the test says whether calls on them may block.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct simulated_descriptor {  // all of them
  bool blocks;
  unsigned asked;  // how often the kernel was asked for their flags
};
extern struct simulated_descriptor simulated_descriptor;

// streams.c
bool simulated_never_blocks(int fd, bool is_short);
void simulated_flags_change(int fd);  // F_SETFL
void simulated_reopen(int fd);        // something is recorded of it, and it is closed
void simulated_confine(bool confined);

#ifdef __cplusplus
}
#endif
