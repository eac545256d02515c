// vprof-tables: writes recordings as Parquet tables. vprof calls it
// (driver/src/pipeline/recordings/tables.cpp). It answers with one line on standard output:
// {"written": "..."}, or {"error": "..."} and exit code 2.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "vprof/tables/tables.h"

namespace {

constexpr int kUserError = 2;

using vprof::tables::Privacy;
using vprof::tables::TablesRequest;

struct PrivacyWords {
  std::vector<std::string> hash, leave_out;
  std::string salt_file;
};

volatile std::sig_atomic_t g_stopped = 0;

/// The first one lets it remove what it has written; the second one ends it.
void stop_soon(int signal) {
  g_stopped = 1;
  std::signal(signal, SIG_DFL);
}

vprof::Result<std::string> write(TablesRequest request, const PrivacyWords& words) {
  request.privacy = VPROF_TRY(Privacy::parse(words.hash, words.leave_out, words.salt_file));
  return vprof::tables::write_tables(request);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes recordings as Parquet tables; called by vprof");
  TablesRequest request;
  PrivacyWords words;
  vprof::analyzer::Options& analysis = request.analysis;
  app.add_option("--trace", request.trace_dir)->required();
  app.add_option("--sites", request.sites_json)->required();
  app.add_option("--out", request.out)->required();
  app.add_option("--host", request.host)->required();
  app.add_option("--program", request.program);
  app.add_option("--program-version", request.version);
  app.add_option("--vprof", request.vprof);
  app.add_option("--interval", analysis.interval);
  app.add_option("--from", analysis.epoch.from);
  app.add_option("--to", analysis.epoch.to);
  app.add_option("--recorded-since", analysis.epoch.recorded_since);
  app.add_flag("--by-end", analysis.epoch.by_end);
  app.add_flag("--rollups", request.rollups);
  app.add_option("--hash", words.hash)->delimiter(',');
  app.add_option("--leave-out", words.leave_out)->delimiter(',');
  app.add_option("--salt-file", words.salt_file);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUserError;
  }
  std::signal(SIGINT, stop_soon);
  std::signal(SIGTERM, stop_soon);
  request.stopped = &g_stopped;
  const auto written = write(request, words);
  const nlohmann::json answer = written ? nlohmann::json{{"written", *written}}
                                        : nlohmann::json{{"error", written.error().message}};
  fmt::print("{}\n", answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return written ? 0 : kUserError;
}
