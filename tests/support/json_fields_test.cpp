#include "vprof/support/json_schema.h"

#include <catch2/catch.hpp>

namespace {

enum class Colour : uint8_t { kRed, kGreen };

struct Inner {
  std::string name;
  std::array<double, 2> range{};
  bool operator==(const Inner&) const = default;
};

struct Tree {
  uint32_t count = 7;
  Colour colour = Colour::kRed;
  std::optional<int> limit;
  std::map<std::string, bool> flags;
  std::set<std::string> words;
  Inner inner;
  std::vector<Tree> children;
  bool operator==(const Tree&) const = default;
};

}  // namespace

namespace vprof::json {

template <>
struct Words<Colour> {
  static constexpr std::array kWords = {"red", "green"};
};

template <>
struct Object<Inner> {
  static constexpr auto kFields =
      std::tuple{required("name", &Inner::name), optional("range", &Inner::range, "in ns")};
};

template <>
struct Object<Tree> {
  static constexpr const char* kName = "tree";
  static constexpr auto kFields =
      std::tuple{required("count", &Tree::count),      optional("colour", &Tree::colour),
                 optional("limit", &Tree::limit),      optional("flags", &Tree::flags),
                 optional("words", &Tree::words),      required("inner", &Tree::inner),
                 optional("children", &Tree::children)};
};

}  // namespace vprof::json

namespace {

struct Name {
  std::string text;
  bool operator==(const Name&) const = default;
};

struct Sparse {
  Name name;
  int count = 3;
  std::vector<int> list;
};

}  // namespace

namespace vprof::json {

template <>
struct Text<Name> {
  static const std::string& write(const Name& name) { return name.text; }
  static Name read(const std::string& text) {
    if (text.empty()) {
      throw ReadError("a name is empty");
    }
    return {text};
  }
};

template <>
struct Object<Sparse> {
  static constexpr auto kFields =
      std::tuple{required("name", &Sparse::name), non_default("count", &Sparse::count),
                 non_default("list", &Sparse::list)};
};

}  // namespace vprof::json

using vprof::json::Json;

TEST_CASE("json fields: fields with their default are left out where the description says so") {
  CHECK(vprof::json::write(Sparse{.name = {"n"}, .count = 3, .list = {}}).dump() ==
        R"({"name":"n"})");
  CHECK(vprof::json::write(Sparse{.name = {"n"}, .count = 0, .list = {1}}).dump() ==
        R"({"count":0,"list":[1],"name":"n"})");
  CHECK(vprof::json::read<Sparse>(Json{{"name", "n"}})->count == 3);
}

TEST_CASE("json fields: a type with a form as text is read and checked by it") {
  CHECK(vprof::json::read<Sparse>(Json{{"name", "n"}})->name.text == "n");
  CHECK(vprof::json::read<Sparse>(Json{{"name", ""}}).error().message == "a name is empty");
  CHECK(vprof::json::read<Sparse>(Json{{"name", 1}}).error().message == "name: must be a text");
}

namespace {

Tree sample() {
  Tree leaf;
  leaf.count = 1;
  leaf.colour = Colour::kGreen;
  leaf.limit = 3;
  leaf.inner = {"leaf", {1, 2}};
  Tree root;
  root.count = 2;
  root.flags = {{"a", true}};
  root.words = {"x", "y"};
  root.inner = {"root", {}};
  root.children = {leaf, leaf};
  return root;
}

std::string error_of(const Json& document) {
  const auto read = vprof::json::read<Tree>(document);
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("json fields: what is written is read back") {
  const Json document = vprof::json::write(sample());
  CHECK(document["children"][1]["colour"] == "green");
  CHECK(document["limit"].is_null());
  const auto read = vprof::json::read<Tree>(document);
  REQUIRE(read);
  CHECK(*read == sample());
}

TEST_CASE("json fields: fields that are not there keep their defaults, unknown ones are ignored") {
  const auto read =
      vprof::json::read<Tree>({{"count", 5}, {"inner", {{"name", "n"}}}, {"later", true}});
  REQUIRE(read);
  Tree expected;
  expected.count = 5;
  expected.inner = {"n", {}};
  CHECK(*read == expected);
}

TEST_CASE("json fields: an error names the value at fault") {
  Json document = vprof::json::write(sample());
  document["children"][1]["inner"]["name"] = 3;
  CHECK(error_of(document) == "children/1/inner/name: must be a text");
  document = vprof::json::write(sample());
  document["inner"].erase("name");
  CHECK(error_of(document) == "inner/name: is missing");
  document["inner"] = {{"name", "n"}, {"range", {1}}};
  CHECK(error_of(document) == "inner/range: must be a list of the right length");
  document["colour"] = "blue";
  CHECK(error_of(document) == "colour: unknown word 'blue'");
  CHECK(error_of(Json::array()) == "document: must be an object");
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their stack frames are larger
TEST_CASE("json fields: a document that is too deep is refused") {
  Json document = vprof::json::write(sample());
  for (int i = 0; i < 6'000; ++i) {
    Json outer = {{"count", 1}, {"inner", {{"name", "n"}}}};
    outer["children"].push_back(std::move(document));
    document = std::move(outer);
  }
  CHECK(error_of(document).find("too deep") != std::string::npos);
}
#endif

TEST_CASE(
    "json fields: the schema names what is required and ends where a struct contains itself") {
  const Json schema = vprof::json::schema<Tree>();
  CHECK(schema["required"] == Json({"count", "inner"}));
  CHECK(schema["properties"]["colour"]["enum"] == Json({"red", "green"}));
  CHECK(schema["properties"]["count"]["minimum"] == 0);
  CHECK(schema["properties"]["inner"]["properties"]["range"]["description"] == "in ns");
  CHECK(schema["properties"]["children"]["items"]["allOf"][0]["$ref"] == "#/definitions/tree");
  CHECK(schema["definitions"]["tree"]["properties"].contains("children"));
}
