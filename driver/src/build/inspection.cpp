#include "build/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "build/compile_log.h"
#include "build/unit_notes.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using instrumenter::Program;
using instrumenter::Summary;
using instrumenter::Unit;
using nlohmann::json;
using Time = fs::file_time_type;

/// Empty: there is no such file.
std::optional<Time> written_at(const fs::path& file) {
  std::error_code error;
  const Time time = fs::last_write_time(file, error);
  return error ? std::nullopt : std::optional<Time>(time);
}

std::string last_argument(const json& entry, const std::string& option) {
  const json arguments = entry.value("arguments", json::array());
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] == option) {
      return arguments[i + 1].get<std::string>();
    }
  }
  return "";
}

/// The object, or the program, that a compilation writes.
fs::path output_of_entry(const json& entry) {
  const fs::path directory = entry.value("directory", "");
  std::string output = entry.value("output", "");
  if (output.empty()) {
    output = last_argument(entry, "-o");
  }
  if (output.empty()) {
    output = fs::path(entry.value("file", "")).stem().string() + ".o";
  }
  return (directory / output).lexically_normal();
}

/// The part of a note behind the hash.
std::string name_in(const std::string& note) { return note.substr(note.find(' ') + 1); }

class Inspector {
 public:
  Inspector(const Workspace& workspace, const Program& program, const Summary& summary)
      : workspace_(workspace), program_(program), summary_(summary) {}

  Result<Inspection> run() {
    find_regenerated();
    VPROF_TRY(read_outputs());
    for (const Unit& unit : program_.units) {
      check_unit(unit);
    }
    check_linked();
    return std::move(out_);
  }

 private:
  void find_regenerated() {
    for (const auto& [file, hash] : summary_.rewritten) {
      const auto text = read_file(workspace_.mirror() / file);
      const std::string now = text ? instrumenter::content_hash(*text) : "";
      if (now != hash) {
        out_.regenerated.emplace_back(file, now);
      }
    }
  }

  Result<void> read_outputs() {
    inputs_ = linked_files(workspace_);
    for (const auto& [file, inputs] : inputs_) {
      linked_[file] = unit_notes(file);
      in_linked_.insert(linked_[file].begin(), linked_[file].end());
      last_link_ = std::max(last_link_, written_at(file));
    }
    const auto database = VPROF_TRY(read_json(workspace_.compile_commands()));
    for (const json& entry : database) {
      const fs::path file = fs::path(entry.value("directory", "")) / entry.value("file", "");
      outputs_[file.lexically_normal().string()].push_back(output_of_entry(entry));
    }
    changed_.insert(summary_.files_changed.begin(), summary_.files_changed.end());
    for (const auto& [file, hash] : summary_.rewritten) {
      changed_.insert(file);
    }
    return {};
  }

  /// When the last of the files that a unit reads was rewritten or restored; empty: none was.
  std::optional<Time> needed_since(const Unit& unit) const {
    std::optional<Time> latest;
    for (const std::string& file : unit.deps) {
      if (changed_.contains(file)) {
        latest = std::max(latest, written_at(workspace_.mirror() / file));
      }
    }
    return latest;
  }

  /// Whether an object, or the program that a command makes of the unit at once, is newer. If a
  /// build deletes its objects, a program has to be.
  bool is_compiled(const Unit& unit, Time since, fs::path& older) const {
    const auto known = outputs_.find(absolute(unit.file));
    bool exists = false;
    for (const fs::path& output :
         known == outputs_.end() ? std::vector<fs::path>() : known->second) {
      const auto time = written_at(output);
      if (time && *time >= since) {
        return true;
      }
      exists = exists || time.has_value();
      older = exists ? output : older;
    }
    return !exists && (linked_.empty() || last_link_ >= since);
  }

  std::string absolute(const std::string& file) const {
    return (workspace_.mirror() / file).lexically_normal().string();
  }

  void check_unit(const Unit& unit) {
    const auto since = needed_since(unit);
    const auto note = summary_.units.find(unit.file);
    const bool carried = note != summary_.units.end() && in_linked_.contains(note->second);
    fs::path older;
    if (!since || !unit.error.empty() || carried) {
      return;
    }
    if (!is_compiled(unit, *since, older)) {
      const std::string again = older.empty() ? "it" : relative(older) + " again";
      out_.gaps.push_back({unit.file, fmt::format("the build did not compile {}", again), {}});
    } else if (note != summary_.units.end() && !linked_.empty()) {
      const std::string program = not_linked_again(unit);
      if (program.empty()) {
        out_.unlinked.push_back(unit.file);
      } else {
        add_link_gap(unit.file, program);
      }
    }
  }

  /// The program or library that would contain a unit if it had been linked since the unit was
  /// compiled; empty: there is none.
  std::string not_linked_again(const Unit& unit) const {
    const auto known = outputs_.find(absolute(unit.file));
    const std::vector<fs::path> objects =
        known == outputs_.end() ? std::vector<fs::path>() : known->second;
    for (const auto& [file, inputs] : inputs_) {
      const auto linked_at = written_at(file);
      for (const std::string& input : inputs) {
        const bool relevant =
            input.ends_with(".a") || std::ranges::find(objects, fs::path(input)) != objects.end();
        if (relevant && written_at(input) > linked_at) {
          return file;
        }
      }
    }
    return "";
  }

  /// A program that contains an earlier text was not linked again.
  void check_linked() {
    std::map<std::string, std::set<std::string>> wanted;  // by name
    for (const auto& [file, note] : summary_.units) {
      wanted[name_in(note)].insert(note);
    }
    for (const auto& [file, notes] : linked_) {
      for (const std::string& note : notes) {
        if (!wanted[name_in(note)].contains(note)) {
          add_link_gap(name_in(note), file);
          break;
        }
      }
    }
  }

  void add_link_gap(const std::string& file, const fs::path& program) {
    out_.gaps.push_back(
        {file, fmt::format("the build did not link {} again", relative(program)), program});
  }

  std::string relative(const fs::path& path) const {
    return path.lexically_relative(workspace_.mirror()).string();
  }

  const Workspace& workspace_;
  const Program& program_;
  const Summary& summary_;
  std::map<std::string, std::set<std::string>> linked_;  // notes by file
  LinkedFiles inputs_;
  std::set<std::string> in_linked_;
  std::optional<Time> last_link_;
  std::map<std::string, std::vector<fs::path>> outputs_;  // by source
  std::set<std::string> changed_;
  Inspection out_;
};

}  // namespace

Result<Inspection> inspect_build(const Workspace& workspace, const Program& program,
                                 const Summary& summary) {
  return Inspector(workspace, program, summary).run();
}

}  // namespace vprof::driver
