// Makes system calls of a subject fail. For Setup::before_exec.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace vprof::test {

// A system call that fails from now on: always, or if the low half of one argument has this value.
struct Refusal {
  static constexpr int kKills = 0;  // the process, instead of an error

  const char* what;
  long call;
  int error;
  int argument = -1;
  uint32_t value = 0;
};

inline void refuse(const Refusal& refusal) {
  const auto argument = static_cast<uint32_t>(
      offsetof(seccomp_data, args) + 8 * static_cast<size_t>(std::max(refusal.argument, 0)));
  const uint8_t compare = refusal.argument < 0 ? 0 : 1;
  const uint32_t answer = refusal.error == Refusal::kKills
                              ? SECCOMP_RET_KILL_PROCESS
                              : SECCOMP_RET_ERRNO | static_cast<uint32_t>(refusal.error);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(refusal.call), 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal.value, 0, compare),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(98);
  }
}

}  // namespace vprof::test
