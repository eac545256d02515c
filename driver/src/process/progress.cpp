#include "process/progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kSilent = 1s;          // a shorter step shows no progress
constexpr auto kRedraw = 100ms;       // interval between redraws on a terminal
constexpr auto kFirstReminder = 10s;  // between plain lines; doubles up to a minute

std::string elapsed_text(double seconds) {
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  return fmt::format("{} min {:02} s", static_cast<int>(seconds) / 60,
                     static_cast<int>(seconds) % 60);
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(std::string step)
    : step_(std::move(step)),
      start_(Clock::now()),
      terminal_(report::takes_escapes(STDERR_FILENO)) {
  // The main thread gets all signals, so that they interrupt its blocking reads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  ticker_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  ticker_.join();
  const double elapsed = seconds();
  if (shown_ && terminal_) {
    put("\r\033[K");
  }
  if (shown_ || elapsed >= 1) {
    put(fmt::format("{}: {}\n", step_, elapsed_text(elapsed)));
  }
}

void Progress::update(uint64_t done, uint64_t total, const std::string& what) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  total_ = total;
  what_ = what;
}

void Progress::take_line(std::string_view line) {
  constexpr std::string_view kMark = "@progress ";
  if (line.substr(0, kMark.size()) != kMark) {
    return;
  }
  std::istringstream in{std::string(line.substr(kMark.size()))};
  uint64_t done = 0;
  uint64_t total = 0;
  std::string what;
  if (!(in >> done >> total)) {
    return;
  }
  std::getline(in >> std::ws, what);
  update(done, total, what);
}

void Progress::warn(const std::string& line) {
  const std::lock_guard lock(mutex_);
  put(fmt::format("{}vprof: warning: {}\n", shown_ && terminal_ ? "\r\033[K" : "", line));
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string Progress::line(double elapsed) const {
  std::string text = fmt::format("{}: {}", step_, elapsed_text(elapsed));
  if (total_ > 0) {
    text += fmt::format(" [{}/{}] {}", done_, total_, what_);
  }
  return text;
}

void Progress::run() {
  static constexpr char kSpinner[] = "|/-\\";
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, kSilent, [this] { return end_; })) {
    return;
  }
  Clock::duration pause = terminal_ ? Clock::duration(kRedraw) : Clock::duration(kFirstReminder);
  for (size_t turn = 0;; ++turn) {
    shown_ = true;
    const std::string text = line(seconds());
    // A longer line would wrap, and a carriage return cannot go back past a wrap.
    if (terminal_) {
      put(fmt::format("\r\033[K{} {:.76}", kSpinner[turn % 4], text));
    }
    if (!terminal_) {
      put(text + " ...\n");
    }
    if (ended_.wait_for(lock, pause, [this] { return end_; })) {
      return;
    }
    if (!terminal_) {
      pause = std::min<Clock::duration>(pause * 2, 60s);
    }
  }
}

}  // namespace vprof::driver
