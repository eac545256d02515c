#include "incremental/cache.h"

#include <algorithm>
#include <mutex>
#include <optional>
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

/// Functions, of which those that are alike stand once for all units.
class Pool {
 public:
  using Shared = std::shared_ptr<const Function>;

  /// The position of a function. `text`: of the document.
  size_t place(Json document, std::string text, Function function) {
    const auto [it, is_new] = positions_.try_emplace(std::move(text), functions_.size());
    if (is_new) {
      documents_.push_back(std::move(document));
      functions_.push_back(std::make_shared<const Function>(std::move(function)));
    }
    return it->second;
  }

  const Shared& at(size_t position) const { return functions_[position]; }
  const Json& documents() const { return documents_; }

 private:
  Json documents_ = Json::array();
  std::vector<Shared> functions_;  // by position
  std::unordered_map<std::string, size_t> positions_;
};

struct IndexCache::State {
  std::string path;
  const SourceTree& tree;
  Json loaded = {};
  std::unordered_map<std::string, bool> fresh = {};  ///< of the loaded files
  std::unordered_map<size_t, size_t> loaded_place =
      {};              ///< position in the loaded pool → in `pool`
  Stamps stamps = {};  ///< of the files of this run
  Json units = Json::object();
  Pool pool = {};
  std::mutex mutex = {};  ///< for store()

  /// Whether none of these files has changed since the cache was written.
  bool are_fresh(const std::vector<std::string>& files) const {
    return std::ranges::all_of(files, [&](const std::string& file) {
      const auto found = fresh.find(file);
      return found != fresh.end() && found->second;
    });
  }

  /// The position of a function of the loaded pool. Nothing: there is no such function.
  std::optional<size_t> place_loaded(size_t i) {
    if (const auto known = loaded_place.find(i); known != loaded_place.end()) {
      return known->second;
    }
    const Json& all = loaded["pool"];
    auto function = i < all.size() ? json::read<Function>(all[i]) : fail("no such function");
    if (!function) {
      return std::nullopt;
    }
    const size_t position = pool.place(all[i], json_text(all[i], -1), *std::move(function));
    loaded_place[i] = position;
    return position;
  }

  UnitView keep(const CompileCommand& command, const CachedUnit& cached) {
    for (const std::vector<std::string>* files : {&cached.unit.deps, &cached.outside}) {
      for (const std::string& file : *files) {  // relative for files in the tree
        if (const auto [it, is_new] = stamps.try_emplace(file); is_new) {
          it->second = stamp_of(file, tree);
        }
      }
    }
    // A unit that failed is tried again: what was missing, such as a generated header, may exist by
    // then.
    if (cached.unit.error.empty()) {
      units[hash_of(command)] = json::write(cached);
    }
    UnitView facts{cached.unit, {}};
    facts.functions.reserve(cached.functions.size());
    for (const size_t position : cached.functions) {
      facts.functions.push_back(pool.at(position));
    }
    return facts;
  }
};

IndexCache::IndexCache(const std::string& path, const SourceTree& tree)
    : state_(new State{.path = path, .tree = tree}) {
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

std::optional<UnitView> IndexCache::find(const CompileCommand& command) {
  const Json& loaded = state_->loaded;
  if (!loaded.is_object()) {
    return std::nullopt;
  }
  const auto found = loaded["units"].find(hash_of(command));
  if (found == loaded["units"].end()) {
    return std::nullopt;
  }
  auto cached = json::read<CachedUnit>(*found);
  if (!cached || !state_->are_fresh(cached->unit.deps) || !state_->are_fresh(cached->outside)) {
    return std::nullopt;
  }
  for (size_t& position : cached->functions) {
    const std::optional<size_t> placed = state_->place_loaded(position);
    if (!placed) {
      return std::nullopt;
    }
    position = *placed;
  }
  return state_->keep(command, *cached);
}

UnitView IndexCache::store(const CompileCommand& command, ParsedUnit parsed) {
  std::vector<std::pair<Json, std::string>> documents;
  documents.reserve(parsed.functions.size());
  for (const Function& function : parsed.functions) {
    Json document = json::write(function);
    std::string text = json_text(document, -1);
    documents.emplace_back(std::move(document), std::move(text));
  }
  CachedUnit cached{std::move(parsed.unit), std::move(parsed.outside), {}};
  const std::lock_guard lock(state_->mutex);
  for (size_t i = 0; i < documents.size(); ++i) {
    auto& [document, text] = documents[i];
    cached.functions.push_back(
        state_->pool.place(std::move(document), std::move(text), std::move(parsed.functions[i])));
  }
  return state_->keep(command, cached);
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
                      {"pool", state_->pool.documents()}};
  std::string bytes;
  Json::to_cbor(document, nlohmann::detail::output_adapter<char>(bytes));
  return write_file_with_parents(state_->path, bytes);
}

}  // namespace vprof::instrumenter
