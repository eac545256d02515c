// Writing full chunks out, so that their memory can be reused. The helper only.
#ifndef VPROF_ARCHIVE_H
#define VPROF_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "vprof/runtime/trace_format.h"

struct vprof_archive {
  int fd;              // of the trace
  uint64_t next, end;  // offsets: where copies go
};

enum vprof_reuse {
  VPROF_REUSE_NOW,    // the chunk is empty again
  VPROF_REUSE_NEVER,  // it has an unfinished record and stays where it is for good
  VPROF_REUSE_FAILED  // it could not be written, and neither will others
};

// Whether the file system has direct I/O.
bool vprof_archive_possible(int fd);

// Makes a full chunk, which no thread uses any more, empty and ownerless. Blocks for as long as the
// disk does. With a ring nothing is written: what the chunk held is counted as overwritten.
enum vprof_reuse vprof_archive_chunk(struct vprof_archive* archive,
                                     struct vprof_chunk_header* chunk);

// Ring: empties a chunk of the helper's own, or of a thread that has ended. Nobody can still be
// writing to it, so holes do not matter.
void vprof_archive_overwrite(struct vprof_chunk_header* chunk);

#endif
