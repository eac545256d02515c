// A simulated disk: a process of the test answers the calls by which the runtime gets blocks and
// pages of its file or writes to it (seccomp user notification). It can delay them, never answer,
// or kill the program. For Setup::before_exec.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace vprof::test {

// Called for each call, one after another, in a process of its own whose parent is the subject.
// True: the call goes on. False: it never returns. `pid` of the call is the thread that makes it.
using DiskPolicy = std::function<bool(const seccomp_notif&)>;

// Runs until the subject has ended. It is filtered itself, so the kernel does not tell it when
// nobody is left to ask.
[[noreturn]] inline void answer_for_disk(int listener, const DiskPolicy& policy) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The test waits until nobody has the output open any more.
  const auto others = static_cast<unsigned>(listener);
  if (others > 0) {
    syscall(SYS_close_range, 0U, others - 1, 0U);
  }
  syscall(SYS_close_range, others + 1, ~0U, 0U);
  for (pollfd asked{listener, POLLIN, 0};
       poll(&asked, 1, -1) > 0 && (asked.revents & POLLIN) != 0;) {
    seccomp_notif call{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0 || !policy(call)) {
      continue;
    }
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  _exit(0);
}

inline void supervise_disk(const DiskPolicy& policy) {
  constexpr uint32_t kPopulate = 23;  // MADV_POPULATE_WRITE
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(SYS_fallocate), 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(SYS_pwrite64), 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(SYS_madvise), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               static_cast<uint32_t>(offsetof(seccomp_data, args) + 2 * sizeof(uint64_t))),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPopulate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    _exit(98);
  }
  const long listener =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0) {
    _exit(98);
  }
  if (fork() == 0) {
    answer_for_disk(static_cast<int>(listener), policy);
  }
  close(static_cast<int>(listener));
}

// Memory that a policy shares with the test.
template <class T>
class SharedWithPolicy {
 public:
  SharedWithPolicy()
      : value_(new(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                        0)) T) {}
  ~SharedWithPolicy() { munmap(value_, sizeof(T)); }
  SharedWithPolicy(const SharedWithPolicy&) = delete;
  SharedWithPolicy& operator=(const SharedWithPolicy&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

}  // namespace vprof::test
