// Programs that shut themselves in before they have recorded anything.
#include <vprof/runtime/scope.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "subject.h"

using namespace vprof::test;

static constexpr int kManyFrames = 100000;

// Like a daemon: it closes all descriptors first.
SUBJECT(changes_root_first) {
  syscall(SYS_close_range, 3U, ~0U, 0U);
  if (chroot(std::getenv("VPROF_TEST_ROOT")) != 0 || chdir("/") != 0) {
    return 99;
  }
  const int next = dup(0);  // no descriptor of ours is in the way
  const pid_t child = fork();
  if (child == 0) {
    leaves(kManyFrames);
    std::exit(0);
  }
  leaves(10);
  int status = 0;
  waitpid(child, &status, 0);
  return next == 3 ? status : 98;
}

// By a raw system call, and it records nothing.
SUBJECT(changes_root_for_nothing) {
  return syscall(SYS_chroot, std::getenv("VPROF_TEST_ROOT")) == 0 ? 0 : 99;
}

// From now on the kernel kills the program if it does more than these.
static bool allow_hardly_anything() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (const long number : {SYS_exit_group, SYS_write, SYS_brk, SYS_munmap, SYS_clone, SYS_wait4,
                            SYS_set_robust_list, SYS_rt_sigprocmask}) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

SUBJECT(confines_itself_first) {
  if (!allow_hardly_anything()) {
    return 99;
  }
  leaves(kManyFrames);
  return 0;
}

SUBJECT(confines_itself_and_forks) {
  leaves(10);
  if (!allow_hardly_anything()) {
    return 99;
  }
  const pid_t child = fork();
  if (child == 0) {
    leaves(kManyFrames);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// As a server does for each request. The kernel kills the program if anybody asks what the
// descriptor refers to.
SUBJECT(reads_files_at_once) {
  leaf();
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(SYS_statx), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    return 99;
  }
  for (int i = 0; i < 100; ++i) {
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    if (pread(fd, &byte, 1, 0) != 1 || syscall(SYS_pread64, fd, &byte, 1UL, 0L) != 1 ||
        fsync(fd) != 0) {
      return 98;
    }
    close(fd);
  }
  leaf();
  return 0;
}
