#include "pipeline/recordings/tables.h"

#include <sys/utsname.h>

#include "pipeline/results.h"
#include "process/helper_answer.h"
#include "workspace/locations.h"

namespace vprof::driver {

namespace {

std::string this_host() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

Result<fs::path> program() {
  const auto locations = VPROF_TRY(find_locations());
  std::error_code error;
  if (!fs::exists(locations.tables, error)) {
    return fail(
        "--parquet: this vprof was built without Apache Arrow; build it anew with the packages of "
        "tables/requirements.txt in build/python, or use --sqlite or --csv");
  }
  return locations.tables;
}

void add_list(std::vector<std::string>& words, const char* option,
              const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    words.insert(words.end(), {option, value});
  }
}

std::vector<std::string> command_line(const fs::path& helper, const TableSource& source,
                                      const TableOptions& options) {
  const report::Provenance made = provenance_in(source.trace);
  const analyzer::Epoch& epoch = source.analysis.epoch;
  const auto first_of = [](const auto&... texts) {
    std::string found;
    ((found = found.empty() ? texts : found), ...);
    return found;
  };
  std::vector<std::string> words = {helper.string(),
                                    "--trace",
                                    source.trace.string(),
                                    "--sites",
                                    source.sites_json.string(),
                                    "--out",
                                    options.out,
                                    "--host",
                                    first_of(options.host, made.host, this_host()),
                                    "--program-version",
                                    first_of(options.program_version, made.version),
                                    "--vprof",
                                    VPROF_VERSION,
                                    "--interval",
                                    source.analysis.interval};
  if (!epoch.is_all()) {
    words.insert(words.end(),
                 {"--from", std::to_string(epoch.from), "--to", std::to_string(epoch.to),
                  "--recorded-since", std::to_string(epoch.recorded_since)});
  }
  if (epoch.by_end) {
    words.emplace_back("--by-end");
  }
  if (options.rollups) {
    words.emplace_back("--rollups");
  }
  add_list(words, "--hash", options.hash);
  add_list(words, "--leave-out", options.leave_out);
  if (!options.salt_file.empty()) {
    words.insert(words.end(), {"--salt-file", options.salt_file});
  }
  return words;
}

}  // namespace

Result<void> check_tables(const TableOptions& options) {
  if (options.out.empty()) {
    const bool useless = options.rollups || !options.host.empty() || !options.hash.empty() ||
                         !options.program_version.empty() || !options.leave_out.empty();
    return useless ? fail(
                         "--rollups, --host, --program-version, --hash and --leave-out are about "
                         "tables: name their directory with --parquet DIR")
                   : Result<void>();
  }
  std::error_code error;
  if (fs::exists(options.out, error) && !fs::is_directory(options.out, error)) {
    return fail("--parquet {}: is no directory", options.out);
  }
  VPROF_TRY(program());
  return {};
}

Result<std::string> write_tables(const TableSource& source, const TableOptions& options,
                                 bool stoppable) {
  return ask_helper(command_line(VPROF_TRY(program()), source, options), stoppable);
}

}  // namespace vprof::driver
