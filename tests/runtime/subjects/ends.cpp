// Ways in which a process ends, changes its user or its root, or gets more code.
#include <vprof/runtime/scope.h>
#include <vprof/runtime/trace_format.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "subject.h"

using namespace vprof::test;

static constexpr int kFrames = 100000;

SUBJECT(leaves_by_exit_at_once) {
  leaves(kFrames);
  _exit(7);
}

// Returns 0 if the kernel does not read ahead in the trace.
SUBJECT(looks_at_its_mapping) {
  leaf();
  std::ifstream maps("/proc/self/smaps");
  bool of_trace = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(".vpt") != std::string::npos) {
      of_trace = true;
    } else if (of_trace && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" rr") == std::string::npos ? 1 : 0;
    }
  }
  return 2;
}

SUBJECT(leaves_by_abort) {
  leaves(kFrames);
  abort();
}

SUBJECT(leaves_by_quick_exit) {
  at_quick_exit([] { leaf(); });
  leaves(kFrames - 1);
  quick_exit(7);
}

SUBJECT(becomes_a_daemon) {
  leaves(10);
  if (daemon(0, 1) != 0) {
    return 4;
  }
  leaves(kFrames);
  return 0;
}

// The file is made by then. Children cannot make one.
SUBJECT(changes_user) {
  leaves(10);
  if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) {
    return 99;
  }
  leaves(kFrames);
  const pid_t child = fork();
  if (child == 0) {
    leaves(kFrames);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

SUBJECT(changes_root) {
  leaves(10);
  if (chroot(std::getenv("VPROF_TEST_ROOT")) != 0 || chdir("/") != 0) {
    return 99;
  }
  leaves(kFrames);
  return 0;
}

// An instrumented library that comes and goes.
SUBJECT(loads_a_library) {
  leaf();
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(VPROF_TEST_PLUGIN, RTLD_NOW);
    if (library == nullptr) {
      return 4;
    }
    const auto function = reinterpret_cast<void (*)(int)>(dlsym(library, "plugin_work"));
    function(1000);
    std::thread([&] { function(1000); }).join();
    dlclose(library);
  }
  return 0;
}

namespace {

// A field of the header of this process's trace; NULL: it has none yet.
const vprof_file_header* map_header() {
  const std::string directory = std::getenv("VPROF_TRACE_DIR");
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const int fd = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    void* header = mmap(nullptr, sizeof(vprof_file_header), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return header == MAP_FAILED ? nullptr : static_cast<const vprof_file_header*>(header);
  }
  return nullptr;
}

uint64_t seconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

SUBJECT(waits_until_the_helper_has_made_chunks) {
  leaf();
  const vprof_file_header* header = map_header();
  while (header != nullptr &&
         __atomic_load_n(&header->used, __ATOMIC_RELAXED) < VPROF_FILE_HEADER_BYTES + 2 * 65536) {
    rest_us(1000);
  }
  return header == nullptr ? 4 : 0;
}

// Records until something was dropped, and then some more.
SUBJECT(records_until_dropped) {
  const uint64_t start = seconds();
  leaf();
  uint64_t frames = 1;
  const vprof_file_header* header = map_header();
  if (header == nullptr) {
    return 4;
  }
  while (__atomic_load_n(&header->dropped, __ATOMIC_RELAXED) == 0) {
    leaf();
    ++frames;
  }
  leaves(kFrames);
  tell("seconds", seconds() - start + 1);
  tell("frames", frames + kFrames);
  return 0;
}

// Where the system has no more threads to give.
SUBJECT(cannot_make_threads) {
  constexpr int kRounds = 10;
  constexpr int kFramesEach = 3000;
  int failed = 0;
  for (int i = 0; i < kRounds; ++i) {
    leaves(kFramesEach);
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      ++failed;
    }
  }
  tell("failed", static_cast<uint64_t>(failed));
  tell("frames", kRounds * kFramesEach);
  return 0;
}
