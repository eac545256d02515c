// All clients in one thread, on a simulated clock: RocksDB is real, and takes no time.
#include <deque>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "history/serialization_graph.h"
#include "program/outcome.h"
#include "program/session.h"

namespace smf {

namespace {

struct Client {
  Client(const Settings& settings, const Workload& workload, uint64_t number)
      : choices(settings, workload, number) {}

  Choices choices;
  Script script;
  std::unique_ptr<Execution> execution;  // null: about to begin an attempt
  bool in_transaction = false;
  TicketId ticket = 0;
  Nanoseconds began = 0;
  uint32_t aborts = 0;
  size_t steps = 0;
  size_t forced_abort = 0;
  bool waits = false;  // for another transaction, with no event to come
};

class Simulation {
 public:
  explicit Simulation(const Settings& settings)
      : settings_(settings),
        workload_(make_workload(settings.workload)),
        directory_(settings.directory),
        control_(make_control(settings.system->control, {directory_.path(), settings.sync})),
        classifier_(settings.system->predicts ? train(settings, *workload_)
                                              : std::make_shared<const Classifier>()),
        schedule_(rules_of(settings), settings.seed) {
    for (uint32_t i = 0; i < settings.clients; ++i) {
      clients_.emplace_back(settings, *workload_, i);
    }
  }

  RunOutcome run() {
    for (Client& client : clients_) {
      at(client.choices.operation_time(), client);
    }
    const auto end = static_cast<Nanoseconds>(settings_.seconds * 1e9);
    while (settings_.transactions == 0 || outcome_.committed.size() < settings_.transactions) {
      if (events_.empty()) {
        throw std::logic_error("every transaction waits for another one");
      }
      if (events_.top().time > end) {
        now_ = end;
        break;
      }
      now_ = events_.top().time;
      Client& client = *events_.top().client;
      events_.pop();
      advance(client);
    }
    outcome_.end = now_;
    for (const Client& client : clients_) {
      if (client.in_transaction) {
        outcome_.unfinished.push_back(client.began);
      }
    }
    if (settings_.check) {
      history_.order = control_->version_order();
      outcome_.anomaly = find_anomaly(history_);
    }
    return std::move(outcome_);
  }

 private:
  struct Event {
    Nanoseconds time;
    uint64_t number;
    Client* client;
    bool operator<(const Event& other) const {  // the earliest is the greatest
      return std::tie(other.time, other.number) < std::tie(time, number);
    }
  };

  void at(Nanoseconds time, Client& client) { events_.push({time, events_pushed_++, &client}); }

  void advance(Client& client) {
    if (client.execution == nullptr) {
      begin(client);
      return;
    }
    if (client.steps++ == client.forced_abort) {
      roll_back(client);
      return;
    }
    Execution& execution = *client.execution;
    const bool commits = !execution.operations_left();
    Outcome outcome = execution.step(*control_);
    if (outcome == Outcome::kDone && commits) {
      outcome = control_->persist(execution.attempt());
    }
    wake();
    if (outcome == Outcome::kWait) {
      client.waits = true;
      --client.steps;
    } else if (outcome == Outcome::kAbort) {
      roll_back(client);
    } else if (commits) {
      commit(client);
    } else {
      schedule_step(client);
    }
  }

  void schedule_step(Client& client) {
    at(now_ + (client.execution->operations_left() ? client.choices.operation_time()
                                                   : client.choices.commit_time()),
       client);
  }

  void begin(Client& client) {
    if (!client.in_transaction) {
      client.in_transaction = true;
      client.script = client.choices.next_script();
      client.began = now_;
      client.aborts = 0;
    }
    client.ticket = ++last_ticket_;
    tickets_[client.ticket] = &client;
    Prediction prediction = settings_.system->predicts
                                ? classifier_->predict(client.script.type, client.script.hints)
                                : Prediction{};
    predictions_[client.ticket] = prediction;
    std::vector<TicketId> begun_now;
    schedule_.enqueue(client.ticket, std::move(prediction), begun_now);
    begin_all(begun_now);
  }

  void begin_all(const std::vector<TicketId>& tickets) {
    for (const TicketId ticket : tickets) {
      begun(*tickets_.at(ticket), std::move(predictions_.at(ticket)));
      predictions_.erase(ticket);
    }
  }

  void begun(Client& client, Prediction prediction) {
    client.execution = std::make_unique<Execution>(client.script, ++last_attempt_);
    client.execution->attempt().expected = std::move(prediction);
    control_->begin(client.execution->attempt());
    running_[&client.execution->attempt()] = &client;
    client.steps = 0;
    client.forced_abort = client.choices.forced_abort(client.script);
    schedule_step(client);
  }

  void commit(Client& client) {
    control_->finish(client.execution->attempt());
    wake();
    if (settings_.check) {
      history_.committed.push_back(client.execution->history());
    }
    outcome_.committed.push_back({client.began, now_});
    client.in_transaction = false;
    end(client, 0);
  }

  void roll_back(Client& client) {
    control_->rollback(client.execution->attempt());
    wake();
    ++client.aborts;
    outcome_.aborts.push_back(now_);
    end(client, client.choices.back_off_time(client.aborts));
  }

  void end(Client& client, Nanoseconds pause) {
    running_.erase(&client.execution->attempt());
    client.execution.reset();
    tickets_.erase(client.ticket);
    at(now_ + pause, client);
    std::vector<TicketId> begun_now;
    schedule_.end(client.ticket, begun_now);
    begin_all(begun_now);
  }

  void wake() {
    for (Attempt* attempt : control_->take_woken()) {
      Client& client = *running_.at(attempt);
      if (client.waits) {  // else its next step finds out by itself
        client.waits = false;
        at(now_, client);
      }
    }
  }

  const Settings& settings_;
  std::unique_ptr<Workload> workload_;
  Directory directory_;
  std::unique_ptr<ConcurrencyControl> control_;
  std::shared_ptr<const Classifier> classifier_;
  Schedule schedule_;
  std::deque<Client> clients_;
  std::priority_queue<Event> events_;
  uint64_t events_pushed_ = 0;
  Nanoseconds now_ = 0;
  TicketId last_ticket_ = 0;
  uint64_t last_attempt_ = 0;
  std::unordered_map<TicketId, Client*> tickets_;
  std::unordered_map<TicketId, Prediction> predictions_;
  std::unordered_map<Attempt*, Client*> running_;
  History history_;
  RunOutcome outcome_;
};

}  // namespace

RunOutcome simulate(const Settings& settings) { return Simulation(settings).run(); }

}  // namespace smf
