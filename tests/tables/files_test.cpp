// The files of an export: complete or absent, and never twice.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "table_files.h"

using namespace vprof;
using namespace vprof::tables;

namespace {

constexpr int64_t kDay = int64_t{86'400} * 1'000'000'000;

class OutDirectory {
 public:
  OutDirectory()
      : path_(fs::temp_directory_path() / fmt::format("vprof-tables-test-{}", ::getpid())) {
    fs::remove_all(path_);
  }
  ~OutDirectory() { fs::remove_all(path_); }
  OutDirectory(const OutDirectory&) = delete;
  OutDirectory& operator=(const OutDirectory&) = delete;
  const fs::path& path() const { return path_; }

  /// All files, relative.
  std::set<std::string> files() const {
    std::set<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(path_, error)) {
      if (entry.is_regular_file()) {
        found.insert(fs::relative(entry.path(), path_).string());
      }
    }
    return found;
  }

 private:
  const fs::path path_;
};

void add_bin(TableFiles& files, int64_t time) {
  const auto file = files.file(tables::kBins, time);
  REQUIRE(file);
  REQUIRE(
      (*file)->append("r", "request", int32_t{1}, int32_t{2}, static_cast<unsigned __int128>(3)));
}

std::unique_ptr<TableFiles> files_in(const OutDirectory& out, const std::string& host = "db1") {
  auto files = TableFiles::create(out.path(), "0123", host);
  REQUIRE(files);
  return std::move(*files);
}

}  // namespace

TEST_CASE("files appear when all are complete") {
  const OutDirectory out;
  {
    const auto files = files_in(out);
    add_bin(*files, 0);
    CHECK(out.files().size() == 1);  // in a directory that engines do not read
    CHECK(out.files().begin()->starts_with(".vprof-0123/"));
    REQUIRE(files->publish());
  }
  CHECK(out.files() == std::set<std::string>{"bins/day=1970-01-01/host=db1/0123.parquet"});
}

TEST_CASE("an export that fails leaves nothing") {
  const OutDirectory out;
  add_bin(*files_in(out), 0);
  CHECK_FALSE(fs::exists(out.path()));
}

TEST_CASE("what a killed export has left is removed by the next one") {
  const OutDirectory out;
  fs::create_directories(out.path() / ".vprof-0123/bins/day=1970-01-01");
  const auto files = files_in(out);
  CHECK_FALSE(fs::exists(out.path() / ".vprof-0123"));
}

TEST_CASE("a second export replaces the first, also under another name of the host") {
  const OutDirectory out;
  {
    const auto files = files_in(out);
    add_bin(*files, 0);
    add_bin(*files, 3 * kDay);
    REQUIRE(files->publish());
  }
  CHECK(out.files().size() == 2);
  const auto files = files_in(out, "db2");
  add_bin(*files, 0);
  REQUIRE(files->publish());
  CHECK(out.files() == std::set<std::string>{"bins/day=1970-01-01/host=db2/0123.parquet"});
}

TEST_CASE("a recording of many days has few files open, and loses nothing") {
  const OutDirectory out;
  {
    const auto files = files_in(out);
    for (int turn = 0; turn < 2; ++turn) {
      for (int day = 0; day < 6; ++day) {
        add_bin(*files, day * kDay);
      }
    }
    REQUIRE(files->publish());
  }
  // A day that is written to again after its file was closed has a second one.
  CHECK(out.files().size() == 12);
  CHECK(out.files().contains("bins/day=1970-01-06/host=db1/0123-1.parquet"));
  const auto files = files_in(out);
  add_bin(*files, 0);
  REQUIRE(files->publish());
  CHECK(out.files().size() == 1);
}

TEST_CASE("a row that does not fit its table, or a sum that is too long, is an error") {
  const OutDirectory out;
  const auto files = files_in(out);
  const auto file = files->file(tables::kBins, 0);
  REQUIRE(file);
  const auto digits = static_cast<unsigned __int128>(-1);
  const auto appended = (*file)->append("r", "request", int32_t{1}, int32_t{2}, digits);
  REQUIRE_FALSE(appended);
  CHECK(appended.error().message.find("more than 38 digits") != std::string::npos);
  CHECK_FALSE(files->publish());
  const auto other = files->file(tables::kLatencies, 0);
  REQUIRE(other);
  CHECK_FALSE((*other)->append("r"));
}

TEST_CASE("a partition's value has no character that a path may not have") {
  CHECK(partition_value("db1.example") == "db1.example");
  CHECK(partition_value("a/b=c%") == "a%2Fb%3Dc%25");
  CHECK(partition_value("") == "__HIVE_DEFAULT_PARTITION__");
}
