// Waits until another thread sleeps, as the kernel reports it, instead of guessing how long that
// takes.
//
// Calls libc's own syscall(), past every function that libvprof interposes, so that nothing here
// appears in a trace or counts as a waiter.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace vprof::test {

template <class... Arguments>
long unseen_syscall(long number, Arguments... arguments) {
  using Syscall = long (*)(long, ...);
  static const auto real =
      reinterpret_cast<Syscall>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "syscall"));
  return real(number, arguments...);
}

inline int this_thread() { return static_cast<int>(syscall(SYS_gettid)); }

// Sleeps for at least this long. For the pause between two polls, or the minimum length of a wait;
// never as a guess how long something takes.
inline void rest_us(long us) {
  const timespec length{us / 1000000, us % 1000000 * 1000};
  unseen_syscall(SYS_nanosleep, &length, nullptr);
}

inline std::string read_small_file(const std::string& path) {
  char text[1024];
  const long fd = syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return {};
  }
  const long bytes = unseen_syscall(SYS_read, fd, text, sizeof text);
  syscall(SYS_close, fd);
  return std::string(text, bytes > 0 ? static_cast<size_t>(bytes) : 0);
}

// 'R', 'S', 'Z', ...; 0: there is no such thread. `task`: its directory in /proc.
inline char thread_state(const std::string& task) {
  const std::string stat = read_small_file(task + "/stat");
  const size_t name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

// What a thread is expected to sleep on: a futex word within the object. NULL: anything.
struct SleepsOn {
  const void* object = nullptr;
  size_t bytes = 0;
};

inline bool is_asleep(const std::string& task, const SleepsOn& on = {}) {
  if (thread_state(task) != 'S') {
    return false;
  }
  // "number argument ..."; empty where the kernel does not say.
  const std::string call = read_small_file(task + "/syscall");
  long number = 0;
  uint64_t argument = 0;
  const int found = std::sscanf(call.c_str(), "%ld 0x%lx", &number, &argument);
  if (found < 1) {
    return call.empty();  // else it has been woken since
  }
  // Polling for something, as this header or a slow path of the runtime does.
  if (number == SYS_nanosleep || number == SYS_clock_nanosleep) {
    return false;
  }
  // An emulator has other numbers and addresses for the calls of its program.
  if (on.object == nullptr || getenv("VPROF_TEST_EMULATOR") != nullptr) {
    return true;
  }
  const auto object = reinterpret_cast<uint64_t>(on.object);
  return found == 2 && number == SYS_futex && argument >= object && argument < object + on.bytes;
}

inline std::string task_directory(int thread) {
  return "/proc/self/task/" + std::to_string(thread);
}

// Whoever ends that sleep must wait for this first, so it cannot see a timed sleep.
inline void until_asleep(const std::string& task, const SleepsOn& on = {}) {
  while (!is_asleep(task, on)) {
    rest_us(20);
  }
}

inline void until_asleep(int thread, const SleepsOn& on = {}) {
  until_asleep(task_directory(thread), on);
}

}  // namespace vprof::test
