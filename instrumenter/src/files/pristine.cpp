#include "files/pristine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "files/parallel.h"
#include "vprof/instrumenter/changed_files.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"
#include "vprof/support/json_fields.h"

namespace vprof::instrumenter {

Result<PristineFiles> PristineFiles::open(const std::string& mirror, const std::string& pristine) {
  PristineFiles store;
  store.mirror_ = mirror;
  store.pristine_ = pristine;
  const std::string manifest = pristine + "/manifest.json";
  if (!std::filesystem::exists(manifest)) {
    return store;
  }
  const auto text = VPROF_TRY(read_file(manifest));
  auto written = json::read<std::map<std::string, Hashes>>(parse_json(text));
  if (!written) {
    return fail("{}: damaged ({}); remove .vprof and start again", manifest,
                written.error().message);
  }
  store.written_ = *std::move(written);
  return store;
}

Result<void> PristineFiles::save() const {
  return write_file_with_parents(pristine_ + "/manifest.json", json::write(written_).dump(1));
}

bool PristineFiles::is_ours(const std::string& file, const std::string& content) const {
  const auto it = written_.find(file);
  if (it == written_.end()) {
    return false;
  }
  const std::string hash = content_hash(content);
  return std::find(it->second.begin(), it->second.end(), hash) != it->second.end();
}

Result<std::string> PristineFiles::original(const std::string& file) const {
  Result<std::string> current = read_file(mirror_ + "/" + file);
  if (!current || !is_ours(file, *current)) {
    return current;
  }
  return read_file(pristine_ + "/" + file);
}

std::vector<std::string> PristineFiles::rewritten() const {
  std::vector<std::string> files;
  for (const auto& [file, hash] : written_) {
    const Result<std::string> current = read_file(mirror_ + "/" + file);
    if (current && is_ours(file, *current)) {
      files.push_back(file);
    }
  }
  return files;
}

/// Saves the original of a file that is about to change. `hashes` receives the hashes of all our
/// texts that the file in the mirror may have until then. Returns whether it has to change.
Result<bool> PristineFiles::prepare(const std::string& file, const std::string& text,
                                    Hashes& hashes) const {
  const auto current = VPROF_TRY(read_file(mirror_ + "/" + file));
  hashes = {content_hash(text)};
  if (is_ours(file, current)) {
    if (current == text) {
      return false;
    }
    hashes.push_back(content_hash(current));
  } else {
    VPROF_TRY(write_file_with_parents(pristine_ + "/" + file, current));
  }
  return true;
}

Result<std::vector<std::string>> PristineFiles::update(
    const std::map<std::string, std::string>& texts, const std::string& changed) {
  struct Change {
    std::string file;
    const std::string* text = nullptr;  // nullptr: the original
    Hashes hashes = {};
    Result<bool> wanted = true;
    Result<void> done = {};
  };
  std::vector<Change> changes;
  changes.reserve(texts.size());
  for (const auto& [file, text] : texts) {
    changes.push_back({file, &text});
  }
  parallel_for(changes.size(), 0, [&](size_t i) {
    Change& change = changes[i];
    change.wanted = prepare(change.file, *change.text, change.hashes);
  });
  for (const std::string& file : rewritten()) {
    if (texts.count(file) == 0) {
      changes.push_back({file});
    }
  }
  std::set<std::string> changing;
  for (const Change& change : changes) {
    if (!change.wanted) {
      return tl::unexpected(change.wanted.error());
    }
    if (*change.wanted) {
      changing.insert(change.file);
    }
    if (change.text != nullptr) {
      written_[change.file] = change.hashes;
    }
  }
  VPROF_TRY(save());
  if (!changed.empty()) {
    VPROF_TRY(add_changed_files(changed, changing));
  }

  parallel_for(changes.size(), 0, [&](size_t i) {
    Change& change = changes[i];
    if (!*change.wanted) {
      return;
    }
    const std::string path = mirror_ + "/" + change.file;
    if (change.text != nullptr) {
      change.done = write_file_with_parents(path, *change.text);
    } else if (const auto original = read_file(pristine_ + "/" + change.file); original) {
      change.done = write_file_with_parents(path, *original);
    } else {
      change.done = tl::unexpected(original.error());
    }
  });
  written_.clear();
  for (Change& change : changes) {
    if (!change.done) {
      return tl::unexpected(change.done.error());
    }
    if (change.text != nullptr) {
      written_[change.file] = {change.hashes.front()};
    }
  }
  VPROF_TRY(save());
  return std::vector<std::string>(changing.begin(), changing.end());
}

}  // namespace vprof::instrumenter
