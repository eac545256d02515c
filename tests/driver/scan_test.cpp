// Finds functions, calls and likely request handlers in the text of a source tree.
#include "discovery/source_scan.h"

#include <catch2/catch.hpp>

#include "discovery/handlers.h"
#include "discovery/source_tokens.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

ScannedSource scanned(std::string_view text, const std::string& file = "a.cpp") {
  ScannedSource source;
  scan_text(text, file, source);
  return source;
}

std::string names(const ScannedSource& source) {
  std::string all;
  for (const ScannedFunction& f : source.functions) {
    all += fmt::format("{}{}:{}", all.empty() ? "" : " ", f.name, f.line);
  }
  return all;
}

std::string calls(const ScannedFunction& f) {
  const char* loops[] = {"", "#", "*", "**"};
  std::string all;
  for (const ScannedCall& call : f.calls) {
    all += fmt::format("{}{}{}", all.empty() ? "" : " ", call.name,
                       loops[static_cast<int>(call.loop)]);
  }
  return all;
}

}  // namespace

TEST_CASE("functions of C and C++ are found, and nothing else is taken for one") {
  CHECK(names(scanned(R"(
static inline int f(int a, int (*g)(int)) { return g(a); }
__attribute__((noinline)) void h(void)
{
}
struct S { int field; void method() const override { } };
namespace n { namespace {
class C : public B { public: C() : a_(1), b_{2} { } ~C(); };
} void N::m() noexcept { } }
extern "C" { void c_name(void) { } }
int table[] = { f(1), 2 };
enum E { kA, kB };
#define MACRO(x) void x() { }
DATUM g(ARGS) { }
template <class T> auto t(T x) -> int { return x; }
)")) == "f:2 h:3 S::method:6 n::C::C:8 n::N::m:9 c_name:10 g:14 t:15");
}

TEST_CASE("calls know their loop") {
  const ScannedSource source = scanned(R"(
void f() {
  once(a.member(1));
  for (int i = 0; i < size(); ++i) counted();
  while (more()) { if (x) { inner(); } }
  for (;;) { serve(); while (y) deeper(); }
  do { again(); } while (z());
  for (;;) if (a) b(); else c();
  after();
})");
  REQUIRE(source.functions.size() == 1);
  CHECK(calls(source.functions[0]) ==
        "once member size# counted# more* inner* serve** deeper** again* z* b** c after");
}

TEST_CASE("comments, literals and branches of the preprocessor are skipped") {
  const ScannedSource source = scanned(R"text(
void f() { // }
  /* } */ g("}\"", '}', '\'', 1'000);
#if A
  if (x) {
#else
  if (y) {
#endif
    h(R"(})");
  }
#if 0
  never(); }
#elif B
  some();
#else
  other();
#endif
}
void last() {}
)text");
  REQUIRE(names(source) == "f:2 last:19");
  CHECK(calls(source.functions[0]) == "g h some");
}

TEST_CASE("the scanner survives text that is not C") {
  for (const char* text :
       {"",    "{",     "}",  "(",   "f(", "f() {", "f() {)", "#",  "#if", "#else\n#endif",
        "R\"", "R\"x(", "\"", "'\\", "/*", "//",    "for(",   "do", "a::", "f() }{"}) {
    scanned(text);
  }
  scanned(std::string(100'000, '{'));
  scanned(std::string(1000, '(') + "f(){while(");
}

TEST_CASE("annotations and functions that are passed on are found") {
  CHECK(scanned("void f() { vprof_begin(1); }").annotated);
  CHECK(!scanned("void vprof_begin(int);").annotated);
  const ScannedSource source =
      scanned("void f() { start(&t, 0, worker, p); on(&event); } op ops[] = { {read_it, 1} };");
  for (const char* name : {"worker", "event", "read_it"}) {
    CHECK(source.passed_on.contains(name));
  }
}

TEST_CASE("the handler is the function that the server's loop calls") {
  const std::string server = R"(
int parse(char* s) { return look(s) + look2(s); }
int store(int x) { return x + write_log(x); }
int reply(int x) { return x; }
void handle(int c) { int x = parse(s); x += store(x); reply(x); log(x); }
int next_client() { return accept(1) + tune(2); }
void* serve(void* p) { for (;;) { int c = next_client(); handle(c); } }
int main() { for (int i = 0; i < 4; ++i) pthread_create(&t[i], 0, serve, 0); read_config(a, b); }
void read_config(int a, int b) { while (more()) { set_key(a); set_value(b); } }
)";
  const auto handlers = likely_handlers(scanned(server, "s.c"), 3);
  REQUIRE(!handlers.empty());
  CHECK(handlers[0].name == "handle");
  CHECK(handlers[0].place == "s.c:5");
  CHECK(handlers[0].reason ==
        "called in an endless loop of serve (s.c:7); 4 callees, 3 functions below; 2 calls from "
        "where its thread begins");
  CHECK(likely_handlers(scanned("int main() { return 0; }"), 3).empty());
  CHECK(likely_handlers(scanned(server, "test/s.c"), 3).empty());
}

TEST_CASE("the state machine of an event-driven server is a handler") {
  std::string server =
      "void on_event(int fd) { drive(fd); }\nint main() { add_event(on_event, 1); }\n"
      "void drive(int c) { while (!stop) { switch (state) {\n";
  for (int i = 0; i < 12; ++i) {
    server += fmt::format("case {}: step{}(c); break;\n", i, i);
  }
  server += "} } }\n";
  const auto handlers = likely_handlers(scanned(server, "s.c"), 1);
  REQUIRE(!handlers.empty());
  CHECK(handlers[0].name == "drive");
  CHECK_THAT(handlers[0].reason, Catch::Contains("name its begin and end"));
}
