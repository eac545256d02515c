#include "engine/engine.h"

#include <chrono>

#include "engine/work.h"

namespace lab {

namespace {

using Clock = std::chrono::steady_clock;

Nanoseconds now() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

}  // namespace

Engine::Engine(const Settings& settings, const Workload& workload)
    : settings_(settings),
      workload_(workload),
      locks_(make_policy(settings.policy), settings.seed, static_cast<uint64_t>(settings.patience)),
      pool_({settings.pages, settings.lazy_lru, settings.clean_us, settings.read_us}),
      logs_(settings.logs, settings.flush_us),
      scripts_(settings.seed) {}

Outcome Engine::run() {
  const int count = settings_.workers > 0 ? settings_.workers : settings_.clients;
  std::vector<std::thread> workers;
  for (int i = 0; i < count; ++i) {
    workers.emplace_back([this, i] { worker_loop(settings_.seed + static_cast<uint64_t>(i)); });
  }
  std::thread cleaner([this] { pool_.clean(Random(settings_.seed)); });
  const Nanoseconds start = now();
  if (settings_.rate > 0) {
    arrivals_at_random();
  } else {
    clients_in_a_loop();
  }
  {
    std::unique_lock lock(mutex_);
    all_completed_.wait(
        lock, [this] { return completed_ >= settings_.transactions && completed_ == begun_; });
  }
  close(queue_);
  for (std::thread& worker : workers) {
    worker.join();
  }
  pool_.stop();
  cleaner.join();
  Outcome outcome{std::move(finished_), locks_.waits(), locks_.deadlocks()};
  outcome.finished.resize(settings_.transactions);  // in the others, ever fewer ran beside them
  for (Finished& finished : outcome.finished) {
    finished.begin -= start;
    finished.end -= start;
  }
  return outcome;
}

void Engine::clients_in_a_loop() {
  for (int client = 0; client < settings_.clients; ++client) {
    submit(next_transaction());
  }
}

// On a schedule, whether or not the engine keeps up.
void Engine::arrivals_at_random() {
  sleep_precisely();
  Random random(settings_.seed + 1);
  std::exponential_distribution<double> gap(settings_.rate);
  auto due = Clock::now();
  for (uint64_t i = 0; i < settings_.transactions; ++i) {
    due += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(gap(random)));
    std::this_thread::sleep_until(due);
    submit(next_transaction());
  }
}

// The scripts are always the same ones in the same order.
Session* Engine::next_transaction() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    idle_.push_back(&sessions_.emplace_back());
  }
  Session* session = idle_.back();
  idle_.pop_back();
  session->id = ++begun_;
  session->script = workload_.next(scripts_);
  session->type = session->script.type;
  session->name = workload_.types()[static_cast<size_t>(session->type)];
  session->begin = now();
  return session;
}

void Engine::submit(Session* session) { enqueue(queue_, session); }

void Engine::worker_loop(uint64_t seed) {
  sleep_precisely();
  PoolThread thread{Random(seed), {}};
  while (Session* session = dequeue(queue_)) {
    execute(session, thread);
    complete(session);
  }
}

// Until it commits. What has to roll back begins again after a while.
void Engine::execute(Session* session, PoolThread& thread) {
  while (!attempt(session, thread)) {
    locks_.release_all(session, false);
    work(settings_.unit_us * std::uniform_real_distribution<double>(0.5, 1.5)(thread.random));
  }
}

bool Engine::attempt(Session* session, PoolThread& thread) {
  for (const Step& step : session->script.steps) {
    if (!locks_.acquire(session, step.object, step.mode)) {
      return false;
    }
    pool_.access(step.object, thread);
    work(step.work * settings_.unit_us);
  }
  logs_.commit(thread.random);
  locks_.release_all(session, true);
  return true;
}

void Engine::complete(Session* session) {
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    finished_.push_back({session->type, session->begin, now()});
    idle_.push_back(session);
    ++completed_;
    again = settings_.rate <= 0 && completed_ < settings_.transactions;
    if (!again) {
      all_completed_.notify_one();
    }
  }
  if (again) {
    submit(next_transaction());
  }
}

Outcome run_engine(const Settings& settings, const Workload& workload) {
  return Engine(settings, workload).run();
}

}  // namespace lab
