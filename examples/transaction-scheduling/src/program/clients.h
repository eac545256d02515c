// Clients on threads, each with one transaction after the other.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "program/outcome.h"
#include "program/session.h"
#include "program/shared_control.h"
#include "scheduler/scheduler.h"

namespace smf {

// Of a clock that never goes back.
Nanoseconds now();

// What all clients share.
struct Server {
  Server(const Settings& settings_of_run, const Workload& workload_of_run,
         ConcurrencyControl& control_of_run, std::shared_ptr<const Classifier> classifier,
         const OnCommit& call_on_commit)
      : settings(settings_of_run),
        workload(workload_of_run),
        control(control_of_run),
        scheduler(std::move(classifier), rules_of(settings_of_run), settings_of_run.seed),
        length(static_cast<Nanoseconds>(settings_of_run.seconds * 1e9)),
        began(now()),
        on_commit(call_on_commit) {}

  bool is_over() const;

  const Settings& settings;
  const Workload& workload;
  SharedControl control;
  Scheduler scheduler;
  const Nanoseconds length;
  const Nanoseconds began;
  std::atomic<uint64_t> last_attempt{0};
  std::atomic<uint64_t> committed{0};
  const OnCommit& on_commit;
  std::mutex mutex;  // of what follows
  RunOutcome outcome;
  History history;
};

class Client {
 public:
  Client(Server& server, uint64_t number);

  // Until all of the run's transactions are committed.
  void run();

 private:
  void transaction(const Script* script, const char* type);
  bool attempt(const Script* script);
  bool execute(Execution* execution);
  bool retry_after_abort(const Script* script);
  void back_off();
  void round_trip(Nanoseconds time);

  Server& server_;
  Choices choices_;
  Nanoseconds transaction_began_ = 0;
  uint32_t aborts_ = 0;
};

}  // namespace smf
