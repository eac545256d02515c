// Events that the helper thread writes, to chunks of its own. The helper only.
#ifndef VPROF_HELPER_OUTPUT_H
#define VPROF_HELPER_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "vprof/runtime/trace_format.h"

// Zero at the start.
struct vprof_helper_output {
  struct vprof_chunk_header* chunk;
  uint32_t chunks;  // so far
  uint32_t slots;   // used in `chunk`
  // Ring: the chunks that are kept, a list from here to `chunk`, and their bytes.
  struct vprof_chunk_header* oldest;
  uint64_t kept;
};

// Writes the slots as one event, like vprof_write(). False: no room, and nothing is counted.
bool vprof_helper_write(struct vprof_helper_output* out, const struct vprof_slot* slots,
                        unsigned count);

#endif
