#ifndef VPROF_FILE_LOCKS_H
#define VPROF_FILE_LOCKS_H

#include "interpose/interpose.h"

// Before a descriptor is closed: fills in `release`, which is all 0, if that gives back a lock.
void vprof_close_begin(struct vprof_release* release, int fd);

#endif
