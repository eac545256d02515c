#include "process/descendants.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "vprof/support/files.h"

namespace vprof::driver {

namespace {

using namespace std::chrono_literals;

struct ProcessEntry {
  Descendant process;
  pid_t parent = 0;
  char state = 'Z';
};

/// Parses `PID (NAME) STATE PARENT ...`. The name may contain spaces and parentheses.
ProcessEntry parse_stat(pid_t pid, const std::string& text) {
  constexpr int kBetween = 17;  // fields between the parent and the start time
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  ProcessEntry entry;
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return entry;
  }
  std::istringstream in(text.substr(close + 1));
  in >> entry.state >> entry.parent;
  std::string skipped;
  for (int i = 0; i < kBetween; ++i) {
    in >> skipped;
  }
  entry.process = {.pid = pid, .start = 0, .name = text.substr(open + 1, close - open - 1)};
  in >> entry.process.start;
  return entry;
}

/// All processes of this machine, by parent.
std::multimap<pid_t, ProcessEntry> processes() {
  std::multimap<pid_t, ProcessEntry> all;
  std::error_code error;
  fs::directory_iterator item("/proc", error);
  for (; !error && item != fs::directory_iterator(); item.increment(error)) {
    const std::string name = item->path().filename().string();
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || end != name.data() + name.size()) {
      continue;
    }
    const auto text = read_file(item->path() / "stat");
    if (text) {
      const ProcessEntry entry = parse_stat(pid, *text);
      all.emplace(entry.parent, entry);
    }
  }
  return all;
}

/// A dead child counts as running until it is reaped. Called only where no other child of vprof is
/// waited for.
void reap_all() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::set<Descendant> descendants() {
  const std::multimap<pid_t, ProcessEntry> by_parent = processes();
  std::set<Descendant> found;
  std::vector<pid_t> parents = {::getpid()};
  std::set<pid_t> seen(parents.begin(), parents.end());  // a pid may be reused while we read
  while (!parents.empty()) {
    const auto [first, last] = by_parent.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      const ProcessEntry& entry = child->second;
      if (!seen.insert(entry.process.pid).second) {
        continue;
      }
      parents.push_back(entry.process.pid);
      if (entry.state != 'Z' && entry.state != 'X') {
        found.insert(entry.process);
      }
    }
  }
  return found;
}

std::vector<std::string> names_of(const std::set<Descendant>& processes) {
  std::set<std::string> names;
  for (const Descendant& process : processes) {
    names.insert(process.name);
  }
  return {names.begin(), names.end()};
}

std::set<Descendant> end_descendants(const std::set<Descendant>& spared, int grace_s) {
  constexpr auto kAfterKill = 5s;  // a process in the kernel's hands may not die at all
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(grace_s);
  std::set<Descendant> ended;
  while (true) {
    reap_all();
    std::set<Descendant> living = descendants();
    std::erase_if(living, [&](const Descendant& one) { return spared.contains(one); });
    const auto now = std::chrono::steady_clock::now();
    if (living.empty() || now > deadline + kAfterKill) {
      return ended;
    }
    for (const Descendant& one : living) {
      if (ended.insert(one).second) {
        ::kill(one.pid, SIGTERM);
      } else if (now > deadline) {
        ::kill(one.pid, SIGKILL);
      }
    }
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace vprof::driver
