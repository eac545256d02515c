#include "index/stamps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "index/cache.h"
#include "vprof/support/files.h"

namespace vprof::instrumenter {

using nlohmann::json;

std::string stamp_of(const std::string& file, const SourceTree& tree) {
  if (file.empty() || file[0] != '/') {
    const auto original = tree.originals.find(file);
    if (original != tree.originals.end()) {
      return content_hash(original->second);
    }
    const Result<std::string> text = read_file(tree.root + "/" + file);
    return text ? content_hash(*text) : "missing";
  }
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) {
    return "missing";
  }
  return fmt::format("{}-{}.{}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string hash_of(const std::vector<CompileCommand>& commands) {
  std::string text;
  for (const CompileCommand& command : commands) {
    text += hash_of(command);
  }
  return content_hash(text);
}

bool is_fresh(const std::string& origin_file, const std::string& index,
              const std::vector<CompileCommand>& commands, const SourceTree& tree) {
  const Result<std::string> text = read_file(origin_file);
  const Result<std::string> indexed = read_file(index);
  if (!text || !indexed) {
    return false;
  }
  const json origin = json::parse(*text, nullptr, false);
  if (!origin.is_object() || origin.value("version", 0) != kCacheVersion ||
      origin.value("commands", "") != hash_of(commands) ||
      origin.value("index", "") != content_hash(*indexed)) {
    return false;
  }
  const json stamps = origin.value("stamps", json::object());
  return std::all_of(stamps.items().begin(), stamps.items().end(), [&](const auto& entry) {
    return entry.value().is_string() &&
           entry.value().template get_ref<const std::string&>() == stamp_of(entry.key(), tree);
  });
}

Result<void> save_origin(const std::string& origin_file, const std::string& index,
                         const Origin& origin) {
  const auto indexed = VPROF_TRY(read_file(index));
  const json document{{"version", kCacheVersion},
                      {"commands", origin.commands},
                      {"index", content_hash(indexed)},
                      {"stamps", origin.stamps}};
  return write_file_with_parents(origin_file, document.dump());
}

}  // namespace vprof::instrumenter
