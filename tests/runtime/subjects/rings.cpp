// A thread waits for the answer to what it asked of a ring: to read from an empty pipe. Another one
// writes to the pipe once the first sleeps. By liburing's functions, and by system calls alone.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "subject.h"

using namespace vprof::test;

static char answer = 0;
static int pipe_ends[2];

static void answer_it() {
  if (write(pipe_ends[1], "x", 1) != 1) {
    std::abort();
  }
}

namespace {

// One request, by system calls. The kernel shares the two queues with the program.
class RawRing {
 public:
  bool open() {
    fd_ = static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters_));
    if (fd_ < 0) {
      return false;
    }
    queues_ = static_cast<char*>(
        map(parameters_.sq_off.array + parameters_.sq_entries * sizeof(uint32_t) +
                parameters_.cq_off.cqes + parameters_.cq_entries * sizeof(io_uring_cqe),
            IORING_OFF_SQ_RING));
    requests_ = static_cast<io_uring_sqe*>(map(sizeof(io_uring_sqe), IORING_OFF_SQES));
    return queues_ != MAP_FAILED && requests_ != MAP_FAILED;
  }

  void ask_to_read(int from, char* to) {
    *requests_ = io_uring_sqe{};
    requests_->opcode = IORING_OP_READ;
    requests_->fd = from;
    requests_->addr = reinterpret_cast<uintptr_t>(to);
    requests_->len = 1;
    auto* tail = reinterpret_cast<uint32_t*>(queues_ + parameters_.sq_off.tail);
    *reinterpret_cast<uint32_t*>(queues_ + parameters_.sq_off.array) = 0;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  }

  long enter(unsigned submit, unsigned wait_for) const {
    return syscall(SYS_io_uring_enter, fd_, submit, wait_for, IORING_ENTER_GETEVENTS, nullptr, 8);
  }

 private:
  void* map(size_t bytes, uint64_t what) const {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_,
                static_cast<off_t>(what));
  }

  io_uring_params parameters_{};
  int fd_ = -1;
  char* queues_ = nullptr;
  io_uring_sqe* requests_ = nullptr;
};

}  // namespace

SUBJECT(waits_ring_answer) {
  RawRing ring;
  if (pipe(pipe_ends) != 0 || !ring.open()) {
    return 99;
  }
  ring.ask_to_read(pipe_ends[0], &answer);
  const int result = wait_for([&] { ring.enter(1, 1); }, answer_it);
  return answer == 'x' ? result : 1;
}

#ifdef VPROF_TEST_LIBURING
#include <liburing.h>

// `wait`: submits the request and waits for its answer.
template <class Wait>
static int ask_liburing(Wait wait) {
  io_uring ring{};
  if (pipe(pipe_ends) != 0 || io_uring_queue_init(2, &ring, 0) != 0) {
    return 99;
  }
  io_uring_prep_read(io_uring_get_sqe(&ring), pipe_ends[0], &answer, 1, 0);
  const int result = wait_for([&] { wait(ring); }, answer_it);
  return answer == 'x' ? result : 1;
}

static __kernel_timespec an_hour{3600, 0};

SUBJECT(waits_liburing) {
  return ask_liburing([](io_uring& ring) {
    io_uring_cqe* got = nullptr;
    io_uring_submit(&ring);
    io_uring_wait_cqe(&ring, &got);
  });
}

SUBJECT(waits_liburing_cqes) {
  return ask_liburing([](io_uring& ring) {
    io_uring_cqe* got = nullptr;
    io_uring_submit(&ring);
    io_uring_wait_cqes(&ring, &got, 1, &an_hour, nullptr);
  });
}

SUBJECT(waits_liburing_timeout) {
  return ask_liburing([](io_uring& ring) {
    io_uring_cqe* got = nullptr;
    io_uring_submit(&ring);
    io_uring_wait_cqe_timeout(&ring, &got, &an_hour);
  });
}

SUBJECT(waits_liburing_submit) {
  return ask_liburing([](io_uring& ring) { io_uring_submit_and_wait(&ring, 1); });
}

SUBJECT(waits_liburing_submit_timeout) {
  return ask_liburing([](io_uring& ring) {
    io_uring_cqe* got = nullptr;
    io_uring_submit_and_wait_timeout(&ring, &got, 1, &an_hour, nullptr);
  });
}

#else

SUBJECT(waits_liburing) { return 99; }
SUBJECT(waits_liburing_cqes) { return 99; }
SUBJECT(waits_liburing_timeout) { return 99; }
SUBJECT(waits_liburing_submit) { return 99; }
SUBJECT(waits_liburing_submit_timeout) { return 99; }

#endif
