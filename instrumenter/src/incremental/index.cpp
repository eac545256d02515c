#include "incremental/index.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "files/parallel.h"
#include "files/pristine.h"
#include "files/progress.h"
#include "incremental/cache.h"
#include "index/parse_unit.h"
#include "program/merge.h"

namespace vprof::instrumenter {
namespace {

namespace fs = std::filesystem;

Result<SourceTree> open_tree(const IndexOptions& options) {
  SourceTree tree;
  std::error_code error;
  tree.root = fs::canonical(options.mirror, error).string();
  if (error) {
    return fail("{}: {}", options.mirror, error.message());
  }
  const auto pristine = VPROF_TRY(PristineFiles::open(tree.root, options.pristine));
  for (const std::string& file : pristine.rewritten()) {
    const auto text = VPROF_TRY(pristine.original(file));
    tree.originals[file] = text;
    struct stat status{};
    if (stat((tree.root + "/" + file).c_str(), &status) == 0) {
      tree.originals_by_inode[{status.st_dev, status.st_ino}] = &tree.originals[file];
    }
  }
  return tree;
}

bool is_c_or_cxx(const std::string& file) {
  static const std::set<std::string> extensions{".c",   ".cc", ".cp",  ".cxx", ".cpp",
                                                ".c++", ".C",  ".CPP", ".i",   ".ii"};
  return extensions.count(fs::path(file).extension().string()) != 0;
}

/// The commands that compile C or C++ files that still exist (the probes of a configure script do
/// not), each once.
std::vector<CompileCommand> usable(std::vector<CompileCommand> commands) {
  std::vector<CompileCommand> result;
  std::set<std::vector<std::string>> seen;
  for (CompileCommand& command : commands) {
    if (!is_c_or_cxx(command.file)) {
      continue;
    }
    if (!fs::exists(fs::path(command.directory) / command.file)) {
      continue;
    }
    std::vector<std::string> identity = command.arguments;
    identity.push_back(command.directory);
    if (seen.insert(std::move(identity)).second) {
      result.push_back(std::move(command));
    }
  }
  return result;
}

std::vector<UnitView> parse_all(const std::vector<CompileCommand>& commands, const SourceTree& tree,
                                IndexCache& cache, unsigned jobs) {
  std::vector<UnitView> units(commands.size());
  std::vector<size_t> missing;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (std::optional<UnitView> known = cache.find(commands[i])) {
      units[i] = std::move(*known);
    } else {
      missing.push_back(i);
    }
  }
  std::atomic<size_t> done{0};
  parallel_for(missing.size(), jobs, [&](size_t n) {
    const CompileCommand& command = commands[missing[n]];
    UnitView& unit = units[missing[n]];
    unit = cache.store(command, parse_unit(command, tree));
    report_progress(++done, missing.size(), unit.unit.file);
  });
  return units;
}

}  // namespace

Result<void> index_program(const IndexOptions& options) {
  auto database = VPROF_TRY(read_compile_commands(options.compile_commands));
  const auto tree = VPROF_TRY(open_tree(options));
  const std::vector<CompileCommand> commands = usable(std::move(database));
  if (commands.empty()) {
    return fail("{}: names no C or C++ file that exists", options.compile_commands);
  }

  const std::string origin = options.cache + "/origin.json";
  if (is_fresh(origin, options.out, commands, tree)) {
    return {};
  }
  IndexCache cache(options.cache + "/index.cbor", tree);
  std::vector<UnitView> units = parse_all(commands, tree, cache, options.jobs);
  VPROF_TRY(cache.save());

  Program program = merge_units(std::move(units));
  program.file_hashes = cache.tree_hashes();
  const auto failed = [](const Unit& unit) { return !unit.error.empty(); };
  const auto failures = std::count_if(program.units.begin(), program.units.end(), failed);
  if (static_cast<size_t>(failures) == program.units.size()) {
    return fail("{}: Clang could parse none of {} units; the first error is: {}",
                options.compile_commands, program.units.size(), program.units.front().error);
  }
  VPROF_TRY(save_program(program, options.out));
  // Units that failed are tried again: what was missing may exist by then.
  if (failures != 0) {
    return {};
  }
  return save_origin(origin, options.out, hash_of(commands), cache.stamps());
}

}  // namespace vprof::instrumenter
