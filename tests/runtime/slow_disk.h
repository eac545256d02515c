// A disk that takes its time: calls by which the runtime gets blocks and pages of its file, or writes to it, take long.
// For Setup::before_exec. The kernel asks a process of ours at each such call (seccomp), and that thinks about it.
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

namespace vprof::test {

// Answers one call after the other, until the subject has ended. It is filtered itself, so that it is not told when nobody is left to ask.
[[noreturn]] inline void be_slow(int listener, int ms) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The test waits for the end of what is written to the output.
  const auto others = static_cast<unsigned>(listener);
  if (others > 0) {
    syscall(SYS_close_range, 0U, others - 1, 0U);
  }
  syscall(SYS_close_range, others + 1, ~0U, 0U);
  for (pollfd asked{listener, POLLIN, 0};
       poll(&asked, 1, -1) > 0 && (asked.revents & POLLIN) != 0;) {
    seccomp_notif call{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
      continue;
    }
    usleep(static_cast<useconds_t>(1000 * ms));
    seccomp_notif_resp answer{};
    answer.id = call.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  _exit(0);
}

inline void make_disk_slow(int ms) {
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
    be_slow(static_cast<int>(listener), ms);
  }
  close(static_cast<int>(listener));
}

}  // namespace vprof::test
