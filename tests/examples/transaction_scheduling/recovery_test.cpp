// A process is killed in the middle of its commits. What it had acknowledged is there, and whatever
// is there is whole.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "program/session.h"
#include "program/shared_control.h"

namespace {

constexpr uint64_t kClients = 8;
constexpr size_t kAcknowledged = 400;
constexpr uint64_t kRows = 24;

// Three rows that each transaction updates, by its number: so anybody can tell what it has to have
// written.
smf::Script script_of(uint64_t id) {
  smf::Random random(id);
  smf::Script script;
  std::set<std::string> rows;
  while (rows.size() < 3) {
    const std::string row = "row" + std::to_string(random() % kRows);
    if (rows.insert(row).second) {
      script.operations.push_back({row, smf::Access::kRead, true});
      script.operations.push_back({row, smf::Access::kWrite, false, 1});
    }
  }
  return script;
}

std::set<std::string> rows_of(uint64_t id) {
  std::set<std::string> rows;
  for (const smf::ScriptOperation& operation : script_of(id).operations) {
    rows.insert(operation.key);
  }
  return rows;
}

bool execute(smf::SharedControl& control, smf::Execution& execution) {
  control.begin(execution.attempt());
  while (execution.operations_left()) {
    if (control.step(execution) == smf::Outcome::kAbort) {
      control.roll_back(execution);
      return false;
    }
  }
  if (control.commit(execution) == smf::Outcome::kAbort) {
    control.roll_back(execution);
    return false;
  }
  return true;
}

// Tells the pipe of each transaction once it is committed.
[[noreturn]] void run_until_killed(const std::string& name, const std::string& path, int pipe) {
  const auto control = smf::make_control(name, {path, false});
  smf::SharedControl shared(*control);
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&shared, client, pipe] {
      for (uint64_t id = client + 1;; id += kClients) {
        const smf::Script script = script_of(id);
        smf::Execution execution(script, id);
        for (const smf::ScriptOperation& operation : script.operations) {
          smf::Prediction& expected = execution.attempt().expected;
          expected.operations.push_back(
              {smf::hot_key_id(operation.key), operation.access, expected.length++});
        }
        if (execute(shared, execution) && write(pipe, &id, sizeof id) != sizeof id) {
          _exit(1);
        }
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  _exit(1);
}

// Kills the child once it has acknowledged enough; all that it has acknowledged until then.
std::set<uint64_t> kill_in_the_middle(pid_t child, int pipe) {
  std::set<uint64_t> acknowledged;
  uint64_t id = 0;
  while (read(pipe, &id, sizeof id) == sizeof id) {  // a write of so few bytes is never torn
    acknowledged.insert(id);
    if (acknowledged.size() == kAcknowledged) {
      kill(child, SIGKILL);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  return acknowledged;
}

}  // namespace

TEST_CASE("SIGKILL loses no committed transaction and leaves no part of another one") {
  const std::string name = GENERATE("occ", "locks", "mvtso", "mvschedo");
  CAPTURE(name);
  const smf::Directory directory("");
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    run_until_killed(name, directory.path(), ends[1]);
  }
  close(ends[1]);
  const std::set<uint64_t> acknowledged = kill_in_the_middle(child, ends[0]);
  close(ends[0]);
  REQUIRE(acknowledged.size() >= kAcknowledged);

  const auto control = smf::make_control(name, {directory.path(), false});
  const smf::VersionOrder order = control->version_order();
  std::map<uint64_t, std::set<std::string>> found;
  for (const auto& [row, writers] : order) {
    // The newest version is what is read, and every version has added 1.
    const std::optional<smf::Value> newest = control->committed(row);
    REQUIRE(newest);
    REQUIRE(newest->version.writer == writers.back());
    REQUIRE(newest->amount == static_cast<int64_t>(writers.size()));
    for (const uint64_t writer : writers) {
      found[writer].insert(row);
    }
  }
  for (const auto& [id, rows] : found) {
    CAPTURE(id);
    REQUIRE(rows == rows_of(id));
  }
  for (const uint64_t id : acknowledged) {
    REQUIRE(found.contains(id));
  }
  // What was committed, and could not be acknowledged any more: one for each client at most.
  REQUIRE(found.size() <= acknowledged.size() + kClients);

  // And the database goes on.
  smf::SharedControl shared(*control);
  constexpr uint64_t kNext = 1000000007;
  const smf::Script script = script_of(kNext);
  smf::Execution execution(script, kNext);
  REQUIRE(execute(shared, execution));
  for (const std::string& row : rows_of(kNext)) {
    REQUIRE(control->committed(row)->version.writer == kNext);
  }
}
