// The object behind a descriptor: what a reader of it waits for and a writer to it wakes, the same
// at both ends of a pipe or connection.
//
//   pipe, FIFO           device and inode
//   connected socket     both addresses, in the direction of the bytes
//   listening socket     its address; connect() wakes
//   socket pair          the inode of the end that is read
//   eventfd and others   the number, within the process
//
// Finding out takes system calls, so the answer is kept for each descriptor until that is closed or
// replaced by a call that comes through here. libc closes some without that (fclose). A writer may
// then name the object that the number stood for before, and an edge is missing. A waiter checks
// that the number is still the same socket, or asks afresh.
//
// Any thread, also in signal handlers. These functions preserve errno and take no lock.
#ifndef VPROF_STREAMS_H
#define VPROF_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum vprof_stream_kind {
  VPROF_STREAM_UNKNOWN,
  VPROF_STREAM_FLOW,  // bytes come and go: pipe, socket, eventfd
  VPROF_STREAM_FILE,
  VPROF_STREAM_TIMER,
  VPROF_STREAM_SIGNAL,
  VPROF_STREAM_OTHER
};

enum { VPROF_DESCRIPTORS = 65536 };  // of greater ones nothing is kept

struct vprof_stream {
  uint64_t in;   // what a reader waits for; 0: not known
  uint64_t out;  // what a writer wakes
  uint32_t kind;
  uint32_t shared;  // 1: the object is the same in other processes
  uint64_t socket;  // inode of a connected socket, unique to it; 0: not a connected socket
};

// From the table, else asks the kernel.
struct vprof_stream vprof_stream_of(int fd);

// Asks the kernel, unless the table still holds.
struct vprof_stream vprof_stream_checked(int fd);

// Whether a call on it returns at once where it would have to wait (O_NONBLOCK). Asks the kernel,
// but of short calls only now and then: they can have waited for so long at most.
bool vprof_stream_never_blocks(int fd, bool is_short);
// That may change now.
void vprof_stream_flags_change(int fd);

void vprof_stream_set(int fd, struct vprof_stream stream);
void vprof_stream_forget(int fd);

// The descriptor is closed, and with it what an epoll waited for. Defined in poll.c.
void vprof_room_forget(int fd);

// The object of a listening socket at this address. 0: none.
uint64_t vprof_stream_address(const struct sockaddr* address, socklen_t bytes);

// The object of whoever waits for a signal to this process.
uint64_t vprof_stream_signals(uint64_t pid);

#endif
