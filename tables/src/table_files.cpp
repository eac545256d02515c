#include "table_files.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace vprof::tables {
namespace {

/// Of one table. A recording of many days has no more in memory.
constexpr size_t kMostOpen = 4;

std::string utc_day(int64_t realtime_ns) {
  return fmt::format("{:%Y-%m-%d}",
                     fmt::gmtime(static_cast<std::time_t>(realtime_ns / 1'000'000'000)));
}

}  // namespace

std::string partition_value(const std::string& text) {
  constexpr std::string_view kSpecial = "\"#%'*/:=?\\{[]^";
  if (text.empty()) {
    return "__HIVE_DEFAULT_PARTITION__";
  }
  std::string value;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    value += byte < 0x20 || byte == 0x7f || kSpecial.find(c) != std::string_view::npos
                 ? fmt::format("%{:02X}", byte)
                 : std::string(1, c);
  }
  return value;
}

TableFiles::TableFiles(fs::path out, std::string recording, std::string host)
    : out_(std::move(out)),
      draft_(out_ / (".vprof-" + recording)),
      recording_(std::move(recording)),
      host_(std::move(host)),
      makes_out_([this] {
        std::error_code error;
        return !fs::exists(out_, error);
      }()) {}

TableFiles::~TableFiles() {
  open_.clear();
  static_cast<void>(remove_tree(draft_));
  std::error_code error;
  if (makes_out_) {
    fs::remove(out_, error);  // if it is empty
  }
}

Result<std::unique_ptr<TableFiles>> TableFiles::create(const fs::path& out,
                                                       const std::string& recording,
                                                       const std::string& host) {
  std::unique_ptr<TableFiles> files(new TableFiles(out, recording, host));
  VPROF_TRY(remove_tree(files->draft_));
  return files;
}

fs::path TableFiles::partition(const Key& key) const {
  return fs::path(key.first->name) / ("day=" + key.second) / ("host=" + partition_value(host_));
}

Result<ParquetFile*> TableFiles::file(const Table& table, int64_t realtime_ns) {
  const Key key{&table, utc_day(realtime_ns)};
  Open& open = open_[key];
  open.used = ++asked_;
  if (open.file == nullptr) {
    const int part = parts_[key]++;
    const fs::path directory = draft_ / partition(key);
    VPROF_TRY(make_directories(directory));
    const std::string name =
        part == 0 ? recording_ + ".parquet" : fmt::format("{}-{}.parquet", recording_, part);
    open.file = VPROF_TRY(ParquetFile::create(directory / name, table.columns));
    ParquetFile* const made = open.file.get();
    VPROF_TRY(close_least_used(table));
    return made;
  }
  return open.file.get();
}

Result<void> TableFiles::close_least_used(const Table& table) {
  auto least = open_.end();
  size_t of_table = 0;
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->first.first == &table) {
      ++of_table;
      least = least == open_.end() || it->second.used < least->second.used ? it : least;
    }
  }
  if (of_table <= kMostOpen) {
    return {};
  }
  VPROF_TRY(least->second.file->close());
  open_.erase(least);
  return {};
}

/// The files of the recording in all partitions: those of an export that named the host otherwise,
/// too.
Result<void> TableFiles::remove_earlier() const {
  std::error_code error;
  for (size_t i = kTables.size(); i-- > 0;) {  // `recordings` first
    const fs::path table = out_ / kTables[i]->name;
    for (const auto& day : fs::directory_iterator(table, error)) {
      for (const auto& host : fs::directory_iterator(day.path(), error)) {
        fs::path file = host.path() / (recording_ + ".parquet");
        for (int part = 1; fs::exists(file, error); ++part) {
          if (!fs::remove(file, error)) {
            return fail("cannot remove {}: {}", file.string(), error.message());
          }
          file = host.path() / fmt::format("{}-{}.parquet", recording_, part);
        }
      }
    }
  }
  return {};
}

Result<void> TableFiles::publish() {
  for (auto& [key, open] : open_) {
    VPROF_TRY(open.file->close());
  }
  open_.clear();
  VPROF_TRY(remove_earlier());
  for (const Table* const table : kTables) {  // `recordings` last
    for (const auto& [key, parts] : parts_) {
      if (key.first != table) {
        continue;
      }
      const fs::path from = draft_ / partition(key);
      const fs::path to = out_ / partition(key);
      VPROF_TRY(make_directories(to));
      std::error_code error;
      for (const auto& file : fs::directory_iterator(from, error)) {
        fs::rename(file.path(), to / file.path().filename(), error);
        if (error) {
          return fail("cannot move {} to {}: {}", file.path().string(), to.string(),
                      error.message());
        }
      }
    }
  }
  return {};
}

}  // namespace vprof::tables
