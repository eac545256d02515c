#include <dirent.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "../control_file.h"
#include "subject.h"

namespace vprof::test {
namespace {

std::map<std::string, Scenario>& scenarios() {
  static std::map<std::string, Scenario> all;
  return all;
}

// The directory of the task named "vprof". Empty: it has not named itself yet, or /proc cannot be
// read because no descriptor is left.
std::string helper_task(bool& can_tell) {
  std::string found;
  DIR* tasks = opendir("/proc/self/task");
  can_tell = tasks != nullptr;
  if (!can_tell) {
    return found;
  }
  std::string names;
  while (const dirent* entry = readdir(tasks)) {
    names += entry->d_name[0] == '.' ? "" : std::string(entry->d_name) + ' ';
  }
  closedir(tasks);
  for (size_t at = 0, end = 0; (end = names.find(' ', at)) != std::string::npos; at = end + 1) {
    const std::string task = "/proc/self/task/" + names.substr(at, end - at);
    if (read_small_file(task + "/comm") == "vprof\n") {
      found = task;
    }
  }
  return found;
}

}  // namespace

Registration::Registration(const char* name, Scenario scenario) { scenarios()[name] = scenario; }

__attribute__((noinline)) void leaf() {
  VPROF_FUNCTION(1);
  __asm__ __volatile__("");
}

__attribute__((noinline)) void middle(int leaves) {
  VPROF_FUNCTION(2);
  for (int i = 0; i < leaves; ++i) {
    leaf();
  }
}

__attribute__((noinline)) void outer(int leaves) {
  VPROF_FUNCTION(3);
  middle(leaves);
  leaf();
}

void leaves(int count) {
  for (int i = 0; i < count; ++i) {
    leaf();
  }
}

uint64_t wait_begins() {
  if (std::getenv("VPROF_TEST_PAUSED") != nullptr) {
    ControlFile::existing(std::getenv("VPROF_TRACE_DIR")).drive();
    leaf();  // makes the trace
  }
  return vprof_ticks();
}

void until_helper_sleeps() {
  static std::string helper;
  static int process = 0;
  if (vprof_site_on[1] == 0) {
    return;  // no trace
  }
  if (process != getpid()) {
    process = getpid();
    helper.clear();
    bool can_tell = true;
    while (can_tell && helper.empty()) {
      rest_us(20);
      helper = helper_task(can_tell);
    }
  }
  if (!helper.empty()) {
    until_asleep(helper);
  }
}

void until_released() {
  for (char byte = 0; unseen_syscall(SYS_read, STDIN_FILENO, &byte, 1) > 0;) {
  }
}

}  // namespace vprof::test

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  const auto found = vprof::test::scenarios().find(argv[1]);
  return found == vprof::test::scenarios().end() ? 3 : found->second();
}
