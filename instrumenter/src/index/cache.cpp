#include "index/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <unordered_map>

#include "program/program_json.h"
#include "vprof/support/files.h"

namespace vprof::instrumenter {
using nlohmann::json;

std::string hash_of(const CompileCommand& command) {
  std::string text = command.directory + '\0' + command.file;
  for (const std::string& argument : command.arguments) {
    text += '\0' + argument;
  }
  return content_hash(text);
}

struct IndexCache::State {
  std::string path;
  const SourceTree& tree;
  json loaded;
  std::unordered_map<std::string, bool> fresh;  ///< of the loaded files
  Stamps stamps;                                ///< of the files of this run
  json units = json::object();
  json pool = json::array();
  std::unordered_map<std::string, size_t> pooled;  ///< text of a function → index in pool

  /// Paths are relative for files in the tree.
  std::string stamp(const std::string& file) {
    const auto [it, is_new] = stamps.try_emplace(file);
    if (is_new) {
      it->second = stamp_of(file, tree);
    }
    return it->second;
  }
};

IndexCache::IndexCache(const std::string& path, const SourceTree& tree)
    : state_(new State{path, tree, {}, {}, {}, json::object(), json::array(), {}}) {
  const Result<std::string> content = read_file(path);
  if (!content) {
    return;
  }
  state_->loaded = json::from_cbor(*content, true, false);
  if (!state_->loaded.is_object() || state_->loaded.value("version", 0) != kCacheVersion) {
    state_->loaded = json();
    return;
  }
  for (const auto& [file, stamp] : state_->loaded["stamps"].items()) {
    state_->fresh[file] = stamp.is_string() && stamp_of(file, tree) == stamp.get<std::string>();
  }
}

IndexCache::~IndexCache() = default;

std::optional<ParsedUnit> IndexCache::find(const CompileCommand& command) const {
  const json& loaded = state_->loaded;
  if (!loaded.is_object()) {
    return std::nullopt;
  }
  const auto it = loaded["units"].find(hash_of(command));
  if (it == loaded["units"].end()) {
    return std::nullopt;
  }
  try {
    ParsedUnit parsed;
    parsed.unit = unit_from_json(it->at("unit"));
    parsed.outside = it->at("outside").get<std::vector<std::string>>();
    for (const std::vector<std::string>* files : {&parsed.unit.deps, &parsed.outside}) {
      for (const std::string& file : *files) {
        if (const auto fresh = state_->fresh.find(file);
            fresh == state_->fresh.end() || !fresh->second) {
          return std::nullopt;
        }
      }
    }
    for (const json& i : it->at("functions")) {
      parsed.functions.push_back(function_from_json(loaded.at("pool").at(i.get<size_t>())));
    }
    return parsed;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void IndexCache::store(const CompileCommand& command, const ParsedUnit& parsed) {
  json functions = json::array();
  for (const Function& f : parsed.functions) {
    json document = to_json(f);
    const auto [it, is_new] = state_->pooled.try_emplace(
        document.dump(-1, ' ', false, json::error_handler_t::replace), state_->pool.size());
    if (is_new) {
      state_->pool.push_back(std::move(document));
    }
    functions.push_back(it->second);
  }
  for (const std::vector<std::string>* files : {&parsed.unit.deps, &parsed.outside}) {
    for (const std::string& file : *files) {
      state_->stamp(file);
    }
  }
  // A unit that failed is tried again: what was missing (a generated header) may be there next
  // time.
  if (!parsed.unit.error.empty()) {
    return;
  }
  state_->units[hash_of(command)] = {{"unit", to_json(parsed.unit)},
                                     {"outside", parsed.outside},
                                     {"functions", std::move(functions)}};
}

std::map<std::string, std::string> IndexCache::tree_hashes() const {
  std::map<std::string, std::string> hashes;
  for (const auto& [file, stamp] : state_->stamps) {
    if (!file.empty() && file[0] != '/') {
      hashes[file] = stamp;
    }
  }
  return hashes;
}

const Stamps& IndexCache::stamps() const { return state_->stamps; }

Result<void> IndexCache::save() const {
  const json document{{"version", kCacheVersion},
                      {"stamps", state_->stamps},
                      {"units", state_->units},
                      {"pool", state_->pool}};
  std::string bytes;
  json::to_cbor(document, nlohmann::detail::output_adapter<char>(bytes));
  return write_file_with_parents(state_->path, bytes);
}

}  // namespace vprof::instrumenter
