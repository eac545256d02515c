// Where, when and how a recording is made: what a reader of the report needs to repeat it.
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "pipeline/results.h"
#include "process/process.h"
#include "vprof/report/json.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

constexpr size_t kMostCompilers = 3;

/// First line that the command prints; empty if it fails or is not installed.
std::string first_line_of(std::vector<std::string> argv, const fs::path& directory) {
  std::string line;
  Command command;
  command.argv = std::move(argv);
  command.directory = directory;
  command.log = "/dev/null";
  command.environment["GIT_OPTIONAL_LOCKS"] = "0";  // the source tree is never written to
  command.on_line = [&line](std::string_view text) {
    if (line.empty()) {
      line = text;
    }
  };
  const auto finished = run_command(command);
  return finished && finished->code == 0 ? line : "";
}

std::string processor_model() {
  std::istringstream lines(read_file("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

/// The compiler of an entry of compile_commands.json.
std::string compiler_in(const json& entry) {
  if (entry.contains("arguments") && !entry["arguments"].empty()) {
    return entry["arguments"][0].get<std::string>();
  }
  const auto command = entry.value("command", std::string());
  return command.substr(0, command.find(' '));
}

/// The compilers of the program by their own account, most used first.
std::string compilers_of(const Workspace& workspace) {
  const auto entries = read_json(workspace.compile_commands());
  if (!entries || !entries->is_array()) {
    return "";
  }
  std::map<std::string, size_t> uses;
  for (const json& entry : *entries) {
    ++uses[compiler_in(entry)];
  }
  std::vector<std::pair<size_t, std::string>> sorted;
  sorted.reserve(uses.size());
  for (const auto& [compiler, count] : uses) {
    sorted.emplace_back(count, compiler);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  sorted.resize(std::min(sorted.size(), kMostCompilers));
  std::vector<std::string> versions;
  for (const auto& [count, compiler] : sorted) {
    const std::string version = first_line_of({compiler, "--version"}, workspace.root);
    if (!version.empty() &&
        std::find(versions.begin(), versions.end(), version) == versions.end()) {
      versions.push_back(version);
    }
  }
  return fmt::format("{}", fmt::join(versions, ", "));
}

}  // namespace

report::Provenance provenance_of(const Session& session, const std::vector<std::string>& argv) {
  const fs::path& source = session.config.source;
  report::Provenance made;
  made.date = fmt::format(
      "{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  utsname system{};
  if (::uname(&system) == 0) {
    made.host = system.nodename;
    made.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  made.processor = processor_model();
  made.processors = static_cast<unsigned>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  made.compiler = compilers_of(session.workspace);
  made.version = first_line_of({"git", "describe", "--tags", "--always", "--dirty"}, source);
  made.commit = first_line_of({"git", "rev-parse", "HEAD"}, source);
  const std::string& usual = session.config.run;
  made.command = argv == shell(usual) ? usual : fmt::format("{}", fmt::join(argv, " "));
  made.configuration = read_file(session.config.file).value_or("");
  made.vprof = VPROF_VERSION;
  return made;
}

Result<void> save_provenance(const fs::path& trace, const report::Provenance& provenance) {
  return write_file_atomic(trace / kProvenanceFile,
                           json_text(vprof::json::write(provenance)) + "\n");
}

report::Provenance provenance_in(const fs::path& trace) {
  const auto document = read_json(trace / kProvenanceFile);
  if (!document) {
    return {};  // the recording has been deleted, or an earlier version made it
  }
  return vprof::json::read<report::Provenance>(*document).value_or(report::Provenance{});
}

}  // namespace vprof::driver
