// What leaves the host in tables.
#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "vprof/tables/privacy.h"

using namespace vprof;
using tables::Privacy;
using tables::Treatment;

namespace {

/// A file that is removed in the end.
class SaltFile {
 public:
  explicit SaltFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("vprof-salt-test-{}", ::getpid())) {
    std::ofstream(path_) << text;
  }
  ~SaltFile() { std::filesystem::remove(path_); }
  SaltFile(const SaltFile&) = delete;
  SaltFile& operator=(const SaltFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Privacy with_salt(const std::string& salt) {
  const SaltFile file(salt);
  const auto privacy = Privacy::parse({"labels", "paths"}, {"hosts"}, file.path());
  REQUIRE(privacy);
  return *privacy;
}

}  // namespace

TEST_CASE("names are kept unless something else is asked for") {
  const auto privacy = Privacy::parse({}, {}, "");
  REQUIRE(privacy);
  CHECK(privacy->apply(privacy->labels, "payment") == "payment");
  CHECK(privacy->apply_to_key("f@src/a.c:3") == "f@src/a.c:3");
  CHECK(privacy->apply_to_position("src/a.c:3:7#2") == "src/a.c:3:7#2");
}

TEST_CASE("a hash depends on the name and on the salt, and on nothing else") {
  const Privacy one = with_salt("sixteen bytes or more");
  const Privacy same = with_salt("sixteen bytes or more");
  const Privacy other = with_salt("sixteen other bytes or more");
  const std::string hash = one.apply(one.labels, "payment");
  CHECK(hash.size() == 16);
  CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(same.apply(same.labels, "payment") == hash);
  CHECK(other.apply(other.labels, "payment") != hash);
  CHECK(one.apply(one.labels, "payments") != hash);
  CHECK(one.apply(one.labels, "").empty());
  CHECK(one.apply(one.hosts, "db1").empty());
}

TEST_CASE("lines and columns stay when paths go: places must not become one") {
  const Privacy hashed = with_salt("sixteen bytes or more");
  const std::string file = hashed.apply(hashed.paths, "src/a.c");
  CHECK(hashed.apply_to_position("src/a.c:3") == file + ":3");
  CHECK(hashed.apply_to_position("src/a.c:3:7") == file + ":3:7");
  CHECK(hashed.apply_to_position("src/a.c:3:7#2") == file + ":3:7#2");
  CHECK(hashed.apply_to_key("operator@(x)@src/a.c:3") == "operator@(x)@" + file + ":3");
  CHECK(hashed.apply_to_key("write@") == "write@");
  CHECK(hashed.apply_to_position("").empty());
  const auto left_out = Privacy::parse({}, {"paths"}, "");
  REQUIRE(left_out);
  CHECK(left_out->apply_to_position("src/a.c:3:7") == ":3:7");
  CHECK(left_out->apply_to_key("f@src/a.c:3") == "f@:3");
  CHECK(hashed.apply_to_position("C:/a.c:3:7") == hashed.apply(hashed.paths, "C:/a.c") + ":3:7");
}

TEST_CASE("what cannot be meant is refused in one line") {
  const auto refused = [](const std::vector<std::string>& hash,
                          const std::vector<std::string>& leave_out, const std::string& salt) {
    const auto privacy = Privacy::parse(hash, leave_out, salt);
    REQUIRE_FALSE(privacy);
    CHECK(privacy.error().message.find('\n') == std::string::npos);
    return privacy.error().message;
  };
  CHECK(refused({"label"}, {}, "").find("--hash label: not known") == 0);
  CHECK(refused({}, {"users"}, "").find("--leave-out users: not known") == 0);
  CHECK(refused({"paths"}, {"paths"}, "x").find("--leave-out paths: named twice") == 0);
  CHECK(refused({"labels"}, {}, "").find("--salt-file") != std::string::npos);
  CHECK(refused({"labels"}, {}, "/nonexistent").find("/nonexistent") != std::string::npos);
  const SaltFile weak("short");
  CHECK(refused({"labels"}, {}, weak.path()).find("has 5 bytes") != std::string::npos);
}
