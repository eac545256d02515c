// What a descriptor is: the object that a reader of it waits for and a writer to it wakes, the same in both ends of a pipe or connection.
//
//   pipe, FIFO           device and inode
//   connected socket     both addresses, in the direction of the bytes
//   listening socket     its address; connect() wakes
//   socket pair          the inode of the end that is read
//   eventfd and others   the number, within the process
//
// Asking takes system calls, so the answers are kept by number until the number is closed or used again by a call that comes through here. libc
// closes some without that (fclose). Then a writer may name the object that the number was before, and an edge is missing; who waits asks whether the
// number is still the same socket, or anew.
#ifndef VPROF_STREAMS_H
#define VPROF_STREAMS_H

#include <sys/socket.h>

#include "interpose/waiters.h"

enum vprof_stream_kind {
  VPROF_STREAM_UNKNOWN,
  VPROF_STREAM_FLOW,  // bytes come and go: pipe, socket, eventfd
  VPROF_STREAM_FILE,
  VPROF_STREAM_TIMER,
  VPROF_STREAM_SIGNAL,
  VPROF_STREAM_OTHER
};

struct vprof_stream {
  uint64_t in;   // what a reader waits for; 0: not known
  uint64_t out;  // what a writer wakes
  uint32_t kind;
  uint32_t shared;  // 1: the object is the same in other processes
  uint64_t socket;  // inode of a connected socket, the only one of that number; 0: of anything else
};

struct vprof_stream vprof_stream_of(int fd);     // as it is known, else asked
struct vprof_stream vprof_stream_asked(int fd);  // asked anew
void vprof_stream_set(int fd, struct vprof_stream stream);
void vprof_stream_forget(int fd);
uint64_t vprof_stream_address(const struct sockaddr* address, socklen_t bytes);  // of a listener
uint64_t vprof_stream_signals(uint64_t pid);  // the object of who waits for a signal

#endif
