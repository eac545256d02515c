#include "program/clients.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "history/serialization_graph.h"

namespace smf {

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool Server::is_over() const {
  return now() - began >= length ||
         (settings.transactions > 0 && committed >= settings.transactions);
}

Client::Client(Server& server, uint64_t number)
    : server_(server), choices_(server.settings, server.workload, number) {}

void Client::run() {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // sleeps end when they should
  round_trip(choices_.operation_time());
  while (!server_.is_over()) {
    const Script script = choices_.next_script();
    transaction(&script, server_.workload.types()[script.type]);
  }
}

// From the begin of the first attempt to the commit. The type is for vprof, as the label.
void Client::transaction(const Script* script, [[maybe_unused]] const char* type) {
  aborts_ = 0;
  transaction_began_ = now() - server_.began;
  if (!attempt(script) && !retry_after_abort(script)) {
    const std::lock_guard lock(server_.mutex);
    server_.outcome.unfinished.push_back(transaction_began_);
    return;
  }
  ++server_.committed;
  const std::lock_guard lock(server_.mutex);
  server_.outcome.committed.push_back({transaction_began_, now() - server_.began});
}

// False if the run is over before it is committed.
bool Client::retry_after_abort(const Script* script) {
  while (!server_.is_over()) {
    ++aborts_;
    {
      const std::lock_guard lock(server_.mutex);
      server_.outcome.aborts.push_back(now() - server_.began);
    }
    back_off();
    if (attempt(script)) {
      return true;
    }
  }
  return false;
}

void Client::back_off() {
  std::this_thread::sleep_for(std::chrono::nanoseconds(choices_.back_off_time(aborts_)));
}

void Client::round_trip(Nanoseconds time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

bool Client::attempt(const Script* script) {
  Execution execution(*script, ++server_.last_attempt);
  const Ticket ticket =
      server_.scheduler.begin(script->type, script->hints, [&](const Prediction& prediction) {
        execution.attempt().expected = prediction;
        server_.control.begin(execution.attempt());
      });
  const bool committed = execute(&execution);
  server_.scheduler.end(ticket);
  return committed;
}

bool Client::execute(Execution* execution) {
  size_t until_abort = choices_.forced_abort(execution->script());
  while (execution->operations_left()) {
    round_trip(choices_.operation_time());
    if (until_abort-- == 0 || server_.control.step(*execution) == Outcome::kAbort) {
      server_.control.roll_back(*execution);
      return false;
    }
  }
  round_trip(choices_.commit_time());
  if (server_.control.commit(*execution) == Outcome::kAbort) {
    server_.control.roll_back(*execution);
    return false;
  }
  if (server_.on_commit) {
    server_.on_commit(execution->history());
  }
  if (server_.settings.check) {
    const std::lock_guard lock(server_.mutex);
    server_.history.committed.push_back(execution->history());
  }
  return true;
}

namespace {

// What was under way at the end of the run was brought to its end, and does not count.
void cut_at_end(RunOutcome& outcome, Nanoseconds end) {
  outcome.end = end;
  for (const Committed& committed : outcome.committed) {
    if (committed.end > end && committed.begin < end) {
      outcome.unfinished.push_back(committed.begin);
    }
  }
  std::erase_if(outcome.committed, [end](const Committed& c) { return c.end > end; });
  std::erase_if(outcome.aborts, [end](Nanoseconds time) { return time > end; });
}

}  // namespace

RunOutcome run_clients(const Settings& settings, const OnCommit& on_commit) {
  const auto workload = make_workload(settings.workload);
  const Directory directory(settings.directory);
  const auto control = make_control(settings.system->control, {directory.path(), settings.sync});
  const auto classifier =
      settings.system->predicts ? train(settings, *workload) : std::make_shared<const Classifier>();
  Server server(settings, *workload, *control, classifier, on_commit);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < settings.clients; ++i) {
    threads.emplace_back([&server, i] { Client(server, i).run(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  cut_at_end(server.outcome, std::min(now() - server.began, server.length));
  if (settings.check) {
    server.history.order = control->version_order();
    server.outcome.anomaly = find_anomaly(server.history);
  }
  return std::move(server.outcome);
}

}  // namespace smf
