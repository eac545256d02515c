#include "pristine.h"

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "files.h"

namespace vprof::instrumenter {

Result<PristineFiles> PristineFiles::open(const std::string& mirror, const std::string& pristine) {
  PristineFiles store;
  store.mirror_ = mirror;
  store.pristine_ = pristine;
  const std::string manifest = pristine + "/manifest.json";
  if (!std::filesystem::exists(manifest)) return store;
  const Result<std::string> text = read_file(manifest);
  if (!text) return tl::unexpected(text.error());
  const nlohmann::json document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object())
    return tl::unexpected(fmt::format("{}: damaged; remove .vprof and start again", manifest));
  for (const auto& [file, hash] : document.items())
    if (hash.is_string()) store.written_[file] = hash;
  return store;
}

Result<void> PristineFiles::save() const {
  return replace_file(pristine_ + "/manifest.json", nlohmann::json(written_).dump(1));
}

bool PristineFiles::is_ours(const std::string& file, const std::string& content) const {
  const auto it = written_.find(file);
  return it != written_.end() && it->second == content_hash(content);
}

Result<std::string> PristineFiles::original(const std::string& file) const {
  Result<std::string> current = read_file(mirror_ + "/" + file);
  if (!current || !is_ours(file, *current)) return current;
  return read_file(pristine_ + "/" + file);
}

std::vector<std::string> PristineFiles::rewritten() const {
  std::vector<std::string> files;
  for (const auto& [file, hash] : written_) {
    const Result<std::string> current = read_file(mirror_ + "/" + file);
    if (current && is_ours(file, *current)) files.push_back(file);
  }
  return files;
}

Result<bool> PristineFiles::rewrite(const std::string& file, const std::string& original,
                                    const std::string& text) {
  const std::string path = mirror_ + "/" + file;
  const Result<std::string> current = read_file(path);
  if (!current) return tl::unexpected(current.error());
  if (*current == text && is_ours(file, text)) return false;
  // The order matters if we are killed in between: the original is safe before it is replaced, and
  // the manifest speaks of the new text before that text is there (a file that is not what the
  // manifest says counts as an original, so a rewritten one must never be unknown to it).
  if (auto saved = replace_file(pristine_ + "/" + file, original); !saved)
    return tl::unexpected(saved.error());
  written_[file] = content_hash(text);
  if (auto saved = save(); !saved) return tl::unexpected(saved.error());
  if (auto written = replace_file(path, text); !written) return tl::unexpected(written.error());
  return true;
}

Result<bool> PristineFiles::restore(const std::string& file) {
  const std::string path = mirror_ + "/" + file;
  const Result<std::string> current = read_file(path);
  const bool ours = current && is_ours(file, *current);
  if (ours) {
    const Result<std::string> text = read_file(pristine_ + "/" + file);
    if (!text) return tl::unexpected(text.error());
    if (auto written = replace_file(path, *text); !written) return tl::unexpected(written.error());
  }
  written_.erase(file);
  if (auto saved = save(); !saved) return tl::unexpected(saved.error());
  return ours;
}

}  // namespace vprof::instrumenter
