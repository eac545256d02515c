#include "program/session.h"

#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace smf {

Directory::Directory(const std::string& given) : path_(given), temporary_(given.empty()) {
  if (temporary_) {
    path_ = (std::filesystem::temp_directory_path() / "smf-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error("cannot make a directory like " + path_);
    }
  }
}

Directory::~Directory() {
  if (temporary_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

namespace {

void invert(std::optional<Access>& access) {
  if (access) {
    access = *access == Access::kRead ? Access::kWrite : Access::kRead;
  }
}

}  // namespace

std::shared_ptr<const Classifier> train(const Settings& settings, const Workload& workload) {
  std::vector<TracedTransaction> trace =
      trace_of(workload, settings.trace, settings.seed + 1000003);
  Training training;
  training.hot_share = settings.hot_share > 0 ? settings.hot_share : workload.hot_share();
  if (settings.hints == HintKind::kInverted) {
    for (TracedTransaction& transaction : trace) {
      for (TracedOperation& operation : transaction.operations) {
        operation.access = operation.access == Access::kRead ? Access::kWrite : Access::kRead;
      }
    }
  }
  return std::make_shared<const Classifier>(Classifier::train(trace, training));
}

Choices::Choices(const Settings& settings, const Workload& workload, uint64_t client)
    : settings_(settings),
      workload_(workload),
      random_(settings.seed * 1000000 + client),
      time_random_(settings.seed * 1000000 + client + 500000) {}

Script Choices::next_script() {
  Script script = workload_.next(random_);
  const double dice = std::uniform_real_distribution<double>(0, 1)(random_);
  if (dice < settings_.wrong_hints) {
    Script other = workload_.next(random_);
    while (other.type != script.type) {
      other = workload_.next(random_);
    }
    script.hints = std::move(other.hints);
  }
  if (settings_.hints == HintKind::kNone) {
    script.hints.clear();
  }
  if (settings_.hints == HintKind::kInverted) {
    for (HotKey& hint : script.hints) {
      invert(hint.access);
    }
  }
  return script;
}

Nanoseconds Choices::about(double microseconds) {
  const double factor = std::uniform_real_distribution<double>(0.5, 1.5)(time_random_);
  return static_cast<Nanoseconds>(microseconds * 1000 * factor);
}

Nanoseconds Choices::operation_time() { return about(settings_.operation_us); }
Nanoseconds Choices::commit_time() { return about(settings_.commit_us); }

Nanoseconds Choices::back_off_time(uint32_t aborts) {
  return about(settings_.operation_us * static_cast<double>(1u << std::min(aborts - 1, 5u)));
}

size_t Choices::forced_abort(const Script& script) {
  if (std::uniform_real_distribution<double>(0, 1)(time_random_) >= settings_.forced_aborts) {
    return std::numeric_limits<size_t>::max();
  }
  return std::uniform_int_distribution<size_t>(0, script.operations.size() - 1)(time_random_);
}

}  // namespace smf
