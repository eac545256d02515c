#include "incremental/stamps.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "incremental/cache.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"
#include "vprof/support/json_fields.h"

template <>
struct vprof::json::Object<vprof::instrumenter::Origin> {
  using T = vprof::instrumenter::Origin;
  static constexpr auto kFields =
      std::tuple{required("version", &T::version), required("commands", &T::commands),
                 required("index", &T::index), required("stamps", &T::stamps)};
};

namespace vprof::instrumenter {

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
  const auto origin = json::read<Origin>(parse_json(*text));
  if (!origin || origin->version != kCacheVersion || origin->commands != hash_of(commands) ||
      origin->index != content_hash(*indexed)) {
    return false;
  }
  return std::all_of(origin->stamps.begin(), origin->stamps.end(), [&](const auto& entry) {
    return entry.second == stamp_of(entry.first, tree);
  });
}

Result<void> save_origin(const std::string& origin_file, const std::string& index,
                         const std::string& commands, const Stamps& stamps) {
  const auto indexed = VPROF_TRY(read_file(index));
  const Origin origin{kCacheVersion, commands, content_hash(indexed), stamps};
  return write_file_atomic(origin_file, json::write(origin).dump());
}

}  // namespace vprof::instrumenter
