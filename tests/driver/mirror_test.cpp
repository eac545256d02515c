#include "build/mirror.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "temporary.h"
#include "vprof/instrumenter/changed_files.h"

using namespace vprof;
using namespace vprof::driver;
using vprof::test::read;
using vprof::test::Temporary;
using vprof::test::write;

namespace {

/// The state of a tree: names, contents, modes, times and targets of links.
std::map<std::string, std::string> snapshot(const fs::path& root) {
  std::map<std::string, std::string> all;
  for (const auto& item : fs::recursive_directory_iterator(root)) {
    struct stat status{};
    ::lstat(item.path().c_str(), &status);
    std::string text =
        fmt::format("{:o} {}.{} ", status.st_mode, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    if (item.is_symlink()) {
      text += fs::read_symlink(item.path()).string();
    } else if (item.is_regular_file()) {
      text += read(item.path());
    }
    all[item.path().lexically_relative(root)] = text;
  }
  return all;
}

struct Fixture {
  Temporary directory;
  fs::path source = directory / "source";
  Workspace workspace{directory / "work"};
  fs::path mirror = workspace.mirror();

  Fixture() {
    write(source / "a.c", "int a;\n");
    write(source / "dir/with space.c", "int b;\n");
    fs::create_directories(workspace.dot);
  }
  MirrorChange sync() {
    auto change = sync_mirror(source, workspace);
    INFO((change ? "" : change.error().message));
    REQUIRE(change);
    return *change;
  }
};

}  // namespace

TEST_CASE("a first copy keeps contents, modes, times and links, and does not touch the source") {
  Fixture f;
  write(f.source / "script.sh", "#!/bin/sh\n");
  fs::permissions(f.source / "script.sh", fs::perms::owner_all);
  fs::permissions(f.source / "a.c", fs::perms::owner_read);
  fs::create_symlink("a.c", f.source / "link.c");
  fs::create_symlink("nowhere", f.source / "dangling");
  write(f.source / ".git/HEAD", "x");
  write(f.source / ".vprof/x", "x");
  write(f.source / "a.o", "object");
  write(f.source / "built/CMakeCache.txt", "CMAKE_HOME_DIRECTORY=/elsewhere");
  const auto before = snapshot(f.source);
  const MirrorChange change = f.sync();
  CHECK(change.first);
  CHECK(change.skipped == std::vector<std::string>{"built"});
  CHECK(snapshot(f.source) == before);
  auto copy = snapshot(f.mirror);
  auto wanted = before;
  for (const char* left_out :
       {".git", ".git/HEAD", ".vprof", ".vprof/x", "a.o", "built", "built/CMakeCache.txt"}) {
    wanted.erase(left_out);
  }
  // The time of a directory changes with its contents.
  wanted.erase("dir");
  copy.erase("dir");
  // A link has a time of its own, which does not matter.
  for (const char* link : {"link.c", "dangling"}) {
    CHECK(fs::read_symlink(f.mirror / link) == fs::read_symlink(f.source / link));
    wanted.erase(link);
    copy.erase(link);
  }
  CHECK(copy == wanted);
}

TEST_CASE("a second sync changes nothing") {
  Fixture f;
  f.sync();
  const auto before = snapshot(f.mirror);
  const MirrorChange change = f.sync();
  CHECK_FALSE(change.first);
  CHECK_FALSE(change.any());
  CHECK(snapshot(f.mirror) == before);
}

TEST_CASE("edits, new files and deletions reach the mirror; generated files stay") {
  Fixture f;
  f.sync();
  write(f.mirror / "generated.h", "made");
  write(f.mirror / "dir/made.o", "made");
  write(f.source / "a.c", "int edited;\n");
  write(f.source / "new/n.c", "int n;\n");
  fs::remove_all(f.source / "dir");
  const MirrorChange change = f.sync();
  CHECK(change.changed == std::vector<std::string>{"a.c", "new/n.c"});
  CHECK(std::count(change.deleted.begin(), change.deleted.end(), "dir/with space.c") == 1);
  CHECK(read(f.mirror / "a.c") == "int edited;\n");
  CHECK(read(f.mirror / "generated.h") == "made");
  CHECK(read(f.mirror / "dir/made.o") == "made");
  CHECK_FALSE(fs::exists(f.mirror / "dir/with space.c"));
}

TEST_CASE("a changed file loses its pristine copy and its instrumentation") {
  Fixture f;
  f.sync();
  write(f.workspace.pristine() / "a.c", "int a;\n");
  write(f.workspace.pristine() / "dir/with space.c", "int b;\n");
  write(f.mirror / "a.c", "instrumented\n");
  write(f.mirror / "dir/with space.c", "instrumented\n");
  write(f.source / "a.c", "int other;\n");
  f.sync();
  CHECK(read(f.mirror / "a.c") == "int other;\n");
  CHECK_FALSE(fs::exists(f.workspace.pristine() / "a.c"));
  CHECK(read(f.mirror / "dir/with space.c") == "instrumented\n");
  CHECK(fs::exists(f.workspace.pristine() / "dir/with space.c"));
}

TEST_CASE("what the rewriter knows outlives a change of a file that is called as its manifest is") {
  Fixture f;
  write(f.source / "manifest.json", "1");
  f.sync();
  write(f.workspace.pristine_manifest(), "{}");
  write(f.source / "manifest.json", "22");
  CHECK(f.sync().changed == std::vector<std::string>{"manifest.json"});
  CHECK(read(f.workspace.pristine_manifest()) == "{}");
  fs::remove(f.source / "manifest.json");
  CHECK(f.sync().deleted == std::vector<std::string>{"manifest.json"});
  CHECK(read(f.workspace.pristine_manifest()) == "{}");
}

TEST_CASE("what has changed is listed until it is taken, whatever the copying comes to") {
  using Files = std::set<std::string>;
  const auto listed = [](const Fixture& f) {
    return *instrumenter::load_changed_files(f.workspace.changed());
  };
  Fixture f;
  f.sync();
  CHECK(listed(f).empty());  // nothing is built yet
  write(f.source / "a.c", "int a2;\n");
  fs::remove(f.source / "dir/with space.c");
  f.sync();
  CHECK(listed(f) == Files{"a.c", "dir/with space.c"});
  write(f.source / "b.c", "int b;\n");
  fs::create_directories(f.mirror / "b.c.vprof-copy");  // b.c cannot be copied
  CHECK_FALSE(sync_mirror(f.source, f.workspace));
  CHECK(listed(f) == Files{"a.c", "b.c", "dir/with space.c"});
}

TEST_CASE("an older version of a file looks new to make") {
  Fixture f;
  f.sync();
  const auto object_time = fs::file_time_type::clock::now();
  write(f.source / "a.c", "int older;\n");
  fs::last_write_time(f.source / "a.c", object_time - std::chrono::hours(24));
  f.sync();
  CHECK(fs::last_write_time(f.mirror / "a.c") >= object_time - std::chrono::seconds(1));
}

TEST_CASE("read-only files are replaced, and a file may become a directory") {
  Fixture f;
  fs::permissions(f.source / "a.c", fs::perms::owner_read);
  f.sync();
  fs::permissions(f.source / "a.c", fs::perms::owner_read | fs::perms::owner_write);
  write(f.source / "a.c", "int again;\n");
  fs::permissions(f.source / "a.c", fs::perms::owner_read);
  fs::remove_all(f.source / "dir");
  write(f.source / "dir", "a file now");
  f.sync();
  CHECK(read(f.mirror / "a.c") == "int again;\n");
  CHECK(read(f.mirror / "dir") == "a file now");
  fs::remove(f.source / "dir");
  write(f.source / "dir/x.c", "a directory again");
  f.sync();
  CHECK(read(f.mirror / "dir/x.c") == "a directory again");
}

TEST_CASE("links never lead from the mirror back into the source tree") {
  Fixture f;
  write(f.directory / "shared/s.txt", "shared");
  fs::create_symlink(f.source / "a.c", f.source / "absolute.c");
  fs::create_symlink("../shared/s.txt", f.source / "outside.txt");
  fs::create_symlink("../a.c", f.source / "dir/inside.c");
  f.sync();
  CHECK(fs::canonical(f.mirror / "absolute.c") == fs::canonical(f.mirror / "a.c"));
  CHECK(fs::canonical(f.mirror / "outside.txt") == fs::canonical(f.directory / "shared/s.txt"));
  CHECK(fs::canonical(f.mirror / "dir/inside.c") == fs::canonical(f.mirror / "a.c"));
}

TEST_CASE("links to sources out of the tree are copied as what they lead to") {
  Fixture f;
  const fs::path shared = f.directory / "shared";
  write(shared / "s.h", "shared");
  write(shared / "deep/s.c", "source");
  write(shared / "notes.txt", "text");
  write(f.directory / "data/big.bin", "data");
  write(f.directory / "other/o.c", "other");
  fs::create_symlink("../shared", f.source / "shared");
  fs::create_symlink(shared / "s.h", f.source / "single.h");
  fs::create_symlink("../data", f.source / "data");
  fs::create_symlink("s.h", shared / "alias.h");
  fs::create_symlink("notes.txt", shared / "readme");
  fs::create_symlink("..", shared / "deep/up");      // a cycle
  fs::create_symlink("../other", shared / "other");  // and one over two links
  fs::create_symlink("../shared", f.directory / "other/back");
  fs::create_symlink("/usr/include", f.source / "system");
  fs::create_symlink("..", f.source / "parent");
  f.sync();
  for (const char* copied : {"shared/s.h", "shared/deep/s.c", "single.h", "shared/alias.h",
                             "shared/notes.txt", "shared/other/o.c"}) {
    INFO(copied);
    CHECK(fs::canonical(f.mirror / copied) == fs::canonical(f.mirror) / copied);
  }
  for (const char* link : {"data", "system", "parent"}) {
    INFO(link);
    CHECK(fs::is_symlink(f.mirror / link));
  }
  CHECK(fs::canonical(f.mirror / "shared/readme") == fs::canonical(shared / "notes.txt"));
  CHECK(fs::is_symlink(f.mirror / "shared/deep/up"));
  CHECK(fs::is_symlink(f.mirror / "shared/other/back"));
  write(shared / "s.h", "edited");
  const MirrorChange change = f.sync();
  CHECK(change.changed == std::vector<std::string>{"shared/alias.h", "shared/s.h", "single.h"});
}

TEST_CASE("a mirror without its manifest is created again") {
  Fixture f;
  f.sync();
  write(f.mirror / "a.c", "instrumented");
  fs::remove(f.workspace.manifest());
  const MirrorChange change = f.sync();
  CHECK(change.first);
  CHECK(read(f.mirror / "a.c") == "int a;\n");
}

TEST_CASE("the configuration is not copied") {
  Fixture f;
  write(f.source / "vprof.json", "{}");
  REQUIRE(sync_mirror(f.source, f.workspace, f.source / "vprof.json"));
  CHECK_FALSE(fs::exists(f.mirror / "vprof.json"));
}
