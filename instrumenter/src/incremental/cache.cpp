#include "incremental/cache.h"

#include <unordered_map>

#include "program/program_json.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"

namespace vprof::instrumenter {
namespace {

/// An entry of `units`.
struct CachedUnit {
  Unit unit;
  std::vector<std::string> outside;  ///< files outside the tree that it read
  std::vector<size_t> functions;     ///< positions in the pool
};

}  // namespace
}  // namespace vprof::instrumenter

template <>
struct vprof::json::Object<vprof::instrumenter::CachedUnit> {
  using T = vprof::instrumenter::CachedUnit;
  static constexpr auto kFields =
      std::tuple{required("unit", &T::unit), required("outside", &T::outside),
                 required("functions", &T::functions)};
};

namespace vprof::instrumenter {

using json::Json;

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
  Json loaded;
  std::unordered_map<std::string, bool> fresh;  ///< of the loaded files
  Stamps stamps;                                ///< of the files of this run
  Json units = Json::object();
  Json pool = Json::array();
  std::unordered_map<std::string, size_t> pooled;  ///< text of a function → position in the pool

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
    : state_(new State{path, tree, {}, {}, {}, Json::object(), Json::array(), {}}) {
  const Result<std::string> content = read_file(path);
  if (!content) {
    return;
  }
  state_->loaded = Json::from_cbor(*content, true, false);
  if (!state_->loaded.is_object() || state_->loaded.value("version", 0) != kCacheVersion) {
    state_->loaded = Json();
    return;
  }
  for (const auto& [file, stamp] : state_->loaded["stamps"].items()) {
    state_->fresh[file] = stamp.is_string() && stamp_of(file, tree) == stamp.get<std::string>();
  }
}

IndexCache::~IndexCache() = default;

std::optional<ParsedUnit> IndexCache::find(const CompileCommand& command) const {
  const Json& loaded = state_->loaded;
  if (!loaded.is_object()) {
    return std::nullopt;
  }
  const auto found = loaded["units"].find(hash_of(command));
  if (found == loaded["units"].end()) {
    return std::nullopt;
  }
  auto cached = json::read<CachedUnit>(*found);
  if (!cached) {
    return std::nullopt;
  }
  ParsedUnit parsed{std::move(cached->unit), {}, std::move(cached->outside)};
  for (const std::vector<std::string>* files : {&parsed.unit.deps, &parsed.outside}) {
    for (const std::string& file : *files) {
      const auto fresh = state_->fresh.find(file);
      if (fresh == state_->fresh.end() || !fresh->second) {
        return std::nullopt;
      }
    }
  }
  const Json& pool = loaded["pool"];
  for (const size_t i : cached->functions) {
    auto function = i < pool.size() ? json::read<Function>(pool[i]) : fail("no such function");
    if (!function) {
      return std::nullopt;
    }
    parsed.functions.push_back(*std::move(function));
  }
  return parsed;
}

void IndexCache::store(const CompileCommand& command, const ParsedUnit& parsed) {
  CachedUnit cached{parsed.unit, parsed.outside, {}};
  for (const Function& f : parsed.functions) {
    Json document = json::write(f);
    const auto [it, is_new] =
        state_->pooled.try_emplace(json_text(document, -1), state_->pool.size());
    if (is_new) {
      state_->pool.push_back(std::move(document));
    }
    cached.functions.push_back(it->second);
  }
  for (const std::vector<std::string>* files : {&parsed.unit.deps, &parsed.outside}) {
    for (const std::string& file : *files) {
      state_->stamp(file);
    }
  }
  // A unit that failed is tried again: what was missing, such as a generated header, may exist by
  // then.
  if (parsed.unit.error.empty()) {
    state_->units[hash_of(command)] = json::write(cached);
  }
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
  const Json document{{"version", kCacheVersion},
                      {"stamps", state_->stamps},
                      {"units", state_->units},
                      {"pool", state_->pool}};
  std::string bytes;
  Json::to_cbor(document, nlohmann::detail::output_adapter<char>(bytes));
  return write_file_with_parents(state_->path, bytes);
}

}  // namespace vprof::instrumenter
