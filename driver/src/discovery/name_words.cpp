#include "discovery/name_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using Words = std::set<std::string, std::less<>>;

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
/// `varnishadm`, `rabbitmqctl`: a tool of administrators.
bool is_of_administration(const std::string& word) {
  return word.ends_with("adm") || word.ends_with("admin") ||
         (word.ends_with("ctl") && !word.ends_with("ioctl"));
}

/// Whether one of the words of a path is of a kind.
template <class Kind>
bool has_word(const std::string& file, const Kind& kind) {
  std::string word;
  for (const char c : file + "/") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (kind(word)) {
      return true;
    }
    word.clear();
  }
  return false;
}

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  const std::string_view own = last_part(name);
  std::vector<std::string> words(1);
  for (size_t i = 0; i < own.size(); ++i) {
    const char c = own[i];
    // `HTTPRequest` is http and request.
    const bool begins = i > 0 && is_upper(c) &&
                        (is_lower(own[i - 1]) || (i + 1 < own.size() && is_lower(own[i + 1])));
    if ((c == '_' || begins) && !words.back().empty()) {
      words.emplace_back();
    }
    if (c != '_') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

double request_weight(const std::string& word) {
  static const std::map<std::string, double, std::less<>> weights = {
      {"request", 3},   {"requests", 0.5},  {"req", 3},      {"query", 3},       {"command", 3},
      {"cmd", 3},       {"transaction", 3}, {"rpc", 3},      {"statement", 2.5}, {"stmt", 2.5},
      {"message", 2},   {"msg", 2},         {"packet", 2},   {"txn", 2},         {"op", 1.5},
      {"operation", 2}, {"job", 1.5},       {"stream", 1.6}, {"call", 1.5},      {"task", 1.2},
      {"session", 1.2}, {"event", 1},       {"client", 1},   {"connection", 1},  {"conn", 1},
      {"socket", 0.8}};
  const auto found = weights.find(word);
  return found == weights.end() ? 0 : found->second;
}

double request_weight(const std::vector<std::string>& words) {
  double most = 0;
  for (const std::string& word : words) {
    most = std::max(most, request_weight(word));
  }
  return most;
}

bool is_handling(const std::string& word) {
  static const Words words = {"process", "handle",  "execute", "exec", "dispatch",
                              "serve",   "drive",   "perform", "do",   "service",
                              "answer",  "handler", "receive"};
  return words.contains(word);
}

double handling_weight(const std::vector<std::string>& words) {
  static const Words suffixes = {"ascii", "internal", "async",  "sync", "impl",   "one",
                                 "and",   "text",     "binary", "bin",  "locked", "helper",
                                 "inner", "real",     "0",      "1",    "2"};
  double most = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const double weight = request_weight(words[i]);
    if (weight == 0) {
      continue;
    }
    for (size_t verb = i < 3 ? 0 : i - 3; verb < words.size(); ++verb) {
      if (!is_handling(words[verb]) || (words[verb] == "do" && verb + 1 != i)) {
        continue;
      }
      const bool whole = i + 1 == words.size() || suffixes.contains(words[i + 1]);
      most = std::max(most, verb > i ? 0.6 * weight : whole ? weight : 0.5 * weight);
    }
  }
  return most;
}

bool is_machine(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "machine" || word == "fsm" || word == "statemachine";
  });
}

bool is_of_client(const std::string& file) {
  static const Words words = {"cli",   "client", "clients", "psql",    "shell", "bin",
                              "utils", "util",   "remote",  "control", "stats"};
  return has_word(file, [](const std::string& word) {
    return words.contains(word) || is_of_administration(word);
  });
}

bool is_of_peers(const std::string& file) {
  static const Words ambiguous = {"client", "proxy", "check", "control", "remote"};
  return has_word(file.substr(file.rfind('/') + 1), [](const std::string& word) {
    return is_about_peers(word) && !ambiguous.contains(word);
  });
}

bool is_of_module(const std::string& file) {
  static const Words words = {"plugin",  "plugins", "module", "modules",    "mod",
                              "driver",  "drivers", "back",   "backends",   "addons",
                              "overlay", "ext",     "addon",  "extensions", "overlays"};
  return has_word(file, [](const std::string& word) { return words.contains(word); });
}

bool is_main(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  return !words.empty() && words.back() == "main";
}

bool is_step(const std::string& word) {
  static const Words words = {
      "header", "headers",  "body",  "line",     "parse",  "finalize", "finish", "read",
      "write",  "send",     "reply", "response", "error",  "callback", "result", "status",
      "log",    "auth",     "check", "validate", "args",   "state",    "part",   "chunk",
      "uri",    "trailers", "input", "output",   "filter", "buffer",   "cb"};
  return words.contains(word);
}

bool is_housekeeping(const std::string& word) {
  static const Words words = {
      "close",   "compact", "rebalance", "config",  "conf",      "cleanup", "purge",
      "archive", "recover", "init",      "usage",   "destroy",   "print",   "dump",
      "debug",   "thread",  "property",  "timeout", "signal",    "options", "option",
      "cron",    "setup",   "shutdown",  "expire",  "directive", "free",    "stop",
      "yy",      "parser",  "load",      "stats",   "metrics",   "maint",   "openmetrics"};
  return words.contains(word);
}

bool is_about_peers(const std::string& word) {
  static const Words words = {"cluster", "upstream", "proxy",  "backend", "replica", "slave",
                              "master",  "sentinel", "gossip", "peer",    "chk",     "health",
                              "check",   "raft",     "backup", "remote",  "binlog",  "replication",
                              "reaper",  "control",  "mgmt",   "admin",   "client"};
  const bool replication = word.find("repl") != std::string::npos && !word.starts_with("reply") &&
                           !word.starts_with("replies") && !word.starts_with("replace");
  return replication || is_of_administration(word) || words.contains(word);
}

bool is_collective(const std::string& word) {
  static const Words words = {"tasks",   "events",   "connections", "clients", "requests",
                              "timers",  "commands", "jobs",        "sockets", "messages",
                              "packets", "threads",  "queries",     "loop",    "poll",
                              "pending", "inserts",  "sessions",    "queue",   "cycle"};
  return words.contains(word);
}

bool reuses(const std::string& word) {
  static const Words words = {"reset", "recycle", "reuse", "renew", "reinit", "rearm"};
  return words.contains(word);
}

bool makes(const std::string& word) {
  static const Words words = {"create", "new",   "alloc", "allocate", "init",
                              "begin",  "start", "open",  "make",     "prepare"};
  return words.contains(word);
}

double finality(const std::string& word) {
  static const std::map<std::string, double, std::less<>> words = {
      {"free", 1},       {"delete", 1},  {"destroy", 1},   {"dispose", 1},
      {"release", 0.9},  {"end", 0.9},   {"done", 0.9},    {"finish", 0.9},
      {"complete", 0.9}, {"close", 0.7}, {"cleanup", 0.7}, {"deinit", 0.7}};
  const auto found = words.find(word);
  return found == words.end() ? 0 : found->second;
}

bool ends(const std::string& word) { return finality(word) > 0; }

bool accepts(const std::string& name) {
  const std::vector<std::string> words = words_of(name);
  const auto has = [&words](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // TLS has a call of that name, parsers accept their input, and HTTP has header fields.
  static constexpr std::array<const char*, 14> kOthers = {
      "ssl",    "tls",     "yy",   "range", "ranges",  "encoding", "encodings",
      "header", "headers", "type", "types", "charset", "language", "languages"};
  return (has("accept") || has("accept4")) && std::none_of(kOthers.begin(), kOthers.end(), has);
}

bool waits_for_anybody(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {"accept",
                                                           "accept4",
                                                           "epoll_wait",
                                                           "epoll_pwait",
                                                           "epoll_pwait2",
                                                           "kevent",
                                                           "port_getn",
                                                           "event_base_loop",
                                                           "event_base_dispatch",
                                                           "event_dispatch",
                                                           "ev_run",
                                                           "ev_loop",
                                                           "uv_run",
                                                           "g_main_loop_run",
                                                           "async_accept",
                                                           "io_uring_wait_cqe",
                                                           "io_uring_wait_cqes",
                                                           "io_uring_submit_and_wait",
                                                           "GetQueuedCompletionStatus"};
  return names.contains(name);
}

}  // namespace vprof::driver
