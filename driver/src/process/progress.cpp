#include "process/progress.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "vprof/report/message.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kSilent = 1s;          // a shorter step shows no progress
constexpr auto kRedraw = 100ms;       // interval between redraws on a terminal
constexpr auto kFirstReminder = 10s;  // between plain lines; doubles up to a minute
// From how many items, and from how many seconds on, one can tell how long the rest takes.
constexpr uint64_t kTellingItems = 3;
constexpr double kTellingS = 3;
constexpr double kLeastLeftS = 0.5;  // less is not worth a word

std::string elapsed_text(double seconds) {
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  return fmt::format("{} min {:02} s", static_cast<int>(seconds) / 60,
                     static_cast<int>(seconds) % 60);
}

/// Seconds; 0: not known.
double seconds_left(double elapsed_s, double usual_s, const StepStatus& status) {
  if (usual_s > 0) {
    return std::max(0.0, usual_s - elapsed_s);
  }
  const bool tells = status.done >= kTellingItems && status.done < status.total;
  return tells && elapsed_s >= kTellingS
             ? elapsed_s * static_cast<double>(status.total - status.done) /
                   static_cast<double>(status.done)
             : 0;
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string progress_line(const std::string& step, double elapsed_s, double usual_s,
                          const StepStatus& status) {
  std::string text = fmt::format("{}: {}", step, elapsed_text(elapsed_s));
  if (const double left = seconds_left(elapsed_s, usual_s, status); left >= kLeastLeftS) {
    text += fmt::format(", about {} left",
                        left < 60 ? fmt::format("{:.0f} s", left) : elapsed_text(left));
  }
  if (status.total > 0) {
    text += fmt::format(" [{}/{}]", status.done, status.total);
  }
  return status.what.empty() ? text : fmt::format("{} {}", text, status.what);
}

Progress::Progress(std::string step, double usual_s)
    : step_(std::move(step)),
      usual_s_(usual_s),
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

void Progress::update(StepStatus status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

void Progress::take_line(std::string_view line) {
  constexpr std::string_view kMark = "@progress ";
  if (line.substr(0, kMark.size()) != kMark) {
    return;
  }
  std::istringstream in{std::string(line.substr(kMark.size()))};
  StepStatus status;
  if (!(in >> status.done >> status.total)) {
    return;
  }
  std::getline(in >> std::ws, status.what);
  update(std::move(status));
}

void Progress::warn(const std::string& line) {
  const std::lock_guard lock(mutex_);
  put(fmt::format("{}vprof: {} {}\n", shown_ && terminal_ ? "\r\033[K" : "",
                  report::warning("warning:", STDERR_FILENO), line));
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
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
    const std::string text = progress_line(step_, seconds(), usual_s_, status_);
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
