// A process is killed in the middle of its commits. What it had acknowledged is there, wholly, and
// of what it had not, all or nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <set>

#include "history/serialization_graph.h"
#include "program/outcome.h"
#include "program/session.h"

namespace {

constexpr size_t kAcknowledged = 400;

smf::Settings settings_of(std::string_view system, const std::string& directory) {
  smf::Settings settings;
  settings.system = smf::find_system(system);
  settings.workload = "smallbank";
  settings.clients = 12;
  settings.workers = 12;
  settings.operation_us = 20;
  settings.commit_us = 20;
  settings.seconds = 1000;
  settings.trace = 1000;
  settings.forced_aborts = 0.05;
  settings.directory = directory;
  return settings;
}

// The child: tells the pipe of each committed transaction, in one write, so that none is torn.
[[noreturn]] void run_until_killed(const smf::Settings& settings, int pipe) {
  smf::run_clients(settings, [pipe](const smf::HistoryTransaction& transaction) {
    std::string text = std::to_string(transaction.id);
    for (const smf::HistoryWrite& write : transaction.writes) {
      text += "," + write.key;
    }
    text += "\n";
    if (write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      _exit(1);
    }
  });
  _exit(1);
}

// What the child has acknowledged before it was killed: the rows that each transaction has written.
std::map<uint64_t, std::set<std::string>> kill_after(pid_t child, int pipe) {
  std::string text;
  std::array<char, 4096> buffer{};
  bool killed = false;
  for (ssize_t count; (count = read(pipe, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(count));
    if (!killed && static_cast<size_t>(std::ranges::count(text, '\n')) >= kAcknowledged) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  std::map<uint64_t, std::set<std::string>> acknowledged;
  for (size_t from = 0, end = 0; (end = text.find('\n', from)) != std::string::npos;
       from = end + 1) {
    const std::string line = text.substr(from, end - from);
    size_t at = line.find(',');
    std::set<std::string>& rows = acknowledged[std::stoull(line)];
    while (at != std::string::npos) {
      const size_t next = line.find(',', at + 1);
      rows.insert(line.substr(at + 1, next == std::string::npos ? next : next - at - 1));
      at = next;
    }
  }
  return acknowledged;
}

}  // namespace

TEST_CASE("SIGKILL loses no committed transaction and leaves no part of another one") {
  const std::string system = GENERATE("occ", "locks", "mvtso", "r-smf");
  CAPTURE(system);
  const smf::Directory directory("");
  const smf::Settings settings = settings_of(system, directory.path());
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    run_until_killed(settings, ends[1]);
  }
  close(ends[1]);
  const auto acknowledged = kill_after(child, ends[0]);
  close(ends[0]);
  REQUIRE(acknowledged.size() >= kAcknowledged);

  const auto control = smf::make_control(settings.system->control, {directory.path(), false});
  const smf::VersionOrder order = control->version_order();
  std::map<uint64_t, std::set<std::string>> found;
  for (const auto& [key, writers] : order) {
    REQUIRE(control->committed(key)->version.writer == writers.back());
    for (const uint64_t writer : writers) {
      found[writer].insert(key);
    }
  }
  for (const auto& [id, rows] : acknowledged) {
    CAPTURE(id);
    REQUIRE((rows.empty() || found[id] == rows));
  }
  // SmallBank's writers change two accounts by opposite sums, or one. The log may end with commits
  // that were not acknowledged, at most one for each client, and each is whole.
  size_t unacknowledged = 0;
  for (const auto& [id, rows] : found) {
    unacknowledged += acknowledged.contains(id) || rows.empty() ? 0 : 1;
  }
  REQUIRE(unacknowledged <= settings.clients);

  // And the database goes on.
  smf::Attempt attempt;
  attempt.id = 1000000000;
  control->begin(attempt);
  std::optional<smf::Value> value;
  const auto& [key, writers] = *order.begin();
  REQUIRE(control->read(attempt, key, true, value) == smf::Outcome::kDone);
  REQUIRE(value->version.writer == writers.back());
  REQUIRE(control->write(attempt, key, {{attempt.id, 1}, 1}) == smf::Outcome::kDone);
  REQUIRE(control->prepare(attempt) == smf::Outcome::kDone);
  REQUIRE(control->persist(attempt) == smf::Outcome::kDone);
  control->finish(attempt);
  REQUIRE(control->committed(key)->version.writer == attempt.id);
}
