#include <unistd.h>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "files/pristine.h"
#include "vprof/instrumenter/changed_files.h"

using vprof::instrumenter::load_changed_files;
using vprof::instrumenter::PristineFiles;
namespace fs = std::filesystem;
using Files = std::vector<std::string>;

namespace {

struct Folder {
  fs::path root = fs::temp_directory_path() / ("vprof-test-pristine-" + std::to_string(::getpid()));
  Folder() {
    fs::remove_all(root);
    fs::create_directories(root / "mirror/sub");
  }
  ~Folder() { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(root / "mirror" / file) << text;
  }
  std::string read(const std::string& file) const {
    std::ostringstream out;
    out << std::ifstream(root / "mirror" / file).rdbuf();
    return out.str();
  }
  PristineFiles open() const {
    return *PristineFiles::open((root / "mirror").string(), (root / "pristine").string());
  }
};

}  // namespace

TEST_CASE("the original survives several rewrites and is restored") {
  const Folder folder;
  folder.write("sub/a.c", "one");
  CHECK(*folder.open().update({{"sub/a.c", "ONE"}}) == Files{"sub/a.c"});
  CHECK(folder.read("sub/a.c") == "ONE");
  CHECK(*folder.open().original("sub/a.c") == "one");
  CHECK(*folder.open().update({{"sub/a.c", "TWO"}}) == Files{"sub/a.c"});
  CHECK(*folder.open().original("sub/a.c") == "one");
  CHECK(folder.open().rewritten() == Files{"sub/a.c"});
  CHECK(*folder.open().update({}) == Files{"sub/a.c"});
  CHECK(folder.read("sub/a.c") == "one");
  CHECK(folder.open().rewritten().empty());
}

TEST_CASE("a file that stays the same keeps its time stamp and mode") {
  const Folder folder;
  folder.write("a.c", "one");
  fs::permissions(folder.root / "mirror/a.c",
                  fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
  PristineFiles files = folder.open();
  CHECK(*files.update({{"a.c", "ONE"}}) == Files{"a.c"});
  const auto time = fs::last_write_time(folder.root / "mirror/a.c");
  CHECK(files.update({{"a.c", "ONE"}})->empty());
  CHECK(fs::last_write_time(folder.root / "mirror/a.c") == time);
  CHECK((fs::status(folder.root / "mirror/a.c").permissions() & fs::perms::owner_exec) !=
        fs::perms::none);
}

TEST_CASE("a file that the build writes again becomes the original") {
  const Folder folder;
  folder.write("gram.c", "one");
  CHECK(*folder.open().update({{"gram.c", "ONE"}}) == Files{"gram.c"});
  folder.write("gram.c", "generated again");
  CHECK(*folder.open().original("gram.c") == "generated again");
  CHECK(folder.open().rewritten().empty());
  CHECK(folder.open().update({})->empty());
  CHECK(folder.read("gram.c") == "generated again");
}

TEST_CASE(
    "after a kill in the middle of writing, each file is recognised as rewritten or original") {
  const Folder folder;
  folder.write("a.c", "one");
  folder.write("b.c", "two");
  CHECK(folder.open().update({{"a.c", "ONE"}, {"b.c", "TWO"}}));
  // An error at the second file stops it where a kill would: b.c cannot be replaced.
  PristineFiles files = folder.open();
  fs::create_directories(folder.root / ("mirror/b.c.tmp" + std::to_string(::getpid())));
  const std::string list = folder.root / "changed.json";
  CHECK_FALSE(files.update({{"a.c", "1"}, {"b.c", "2"}}, list));
  CHECK(*load_changed_files(list) == std::set<std::string>{"a.c", "b.c"});
  fs::remove(folder.root / ("mirror/b.c.tmp" + std::to_string(::getpid())));
  CHECK(folder.read("a.c") == "1");
  CHECK(folder.read("b.c") == "TWO");
  CHECK(*folder.open().original("a.c") == "one");
  CHECK(*folder.open().original("b.c") == "two");
  CHECK(*folder.open().update({}) == Files{"a.c", "b.c"});
  CHECK(folder.read("a.c") == "one");
  CHECK(folder.read("b.c") == "two");
}

TEST_CASE("files that change are added to the list of those that have, the others are not") {
  const Folder folder;
  const std::string list = folder.root / "changed.json";
  folder.write("a.c", "one");
  folder.write("b.c", "two");
  CHECK(load_changed_files(list)->empty());
  CHECK(folder.open().update({{"a.c", "ONE"}}, list));
  CHECK(*load_changed_files(list) == std::set<std::string>{"a.c"});
  CHECK(folder.open().update({{"a.c", "ONE"}, {"b.c", "TWO"}}, list));
  CHECK(*load_changed_files(list) == std::set<std::string>{"a.c", "b.c"});
  fs::remove(list);
  CHECK(folder.open().update({{"b.c", "TWO"}}, list));
  CHECK(*load_changed_files(list) == std::set<std::string>{"a.c"});
}

TEST_CASE("the error for a damaged manifest is one line") {
  const Folder folder;
  fs::create_directories(folder.root / "pristine");
  std::ofstream(folder.root / "pristine/manifest.json") << "{";
  const auto files =
      PristineFiles::open((folder.root / "mirror").string(), (folder.root / "pristine").string());
  REQUIRE_FALSE(files);
  CHECK(files.error().message.find("manifest.json") != std::string::npos);
}
