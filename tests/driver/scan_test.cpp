// Finds functions and calls in the text of a source tree.
#include "discovery/scan/source_scan.h"

#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "discovery/catalogue.h"
#include "discovery/name_words.h"
#include "discovery/scan/source_tokens.h"

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

TEST_CASE("branches for other systems are skipped") {
  const auto kept = [](const std::string& condition) {
    const std::string text =
        "void f() {\n" + condition + "\n  first();\n#else\n  second();\n#endif\n}\n";
    return calls(scanned(text).functions.at(0));
  };
  for (const char* foreign :
       {"#ifdef WIN32", "# ifdef _WIN32 // not here", "#if defined(_WIN32)", "#if defined _MSC_VER",
        "#if defined(__APPLE__) && X > 3", "#if defined(_WIN32) && !defined(__CYGWIN__)",
        "#if defined(__FreeBSD__) || \\\n    (defined(__APPLE__) && !defined(X))", "#if (0)",
        "#if !X && _MSC_VER >= 1900"}) {
    CAPTURE(foreign);
    CHECK(kept(foreign) == "second");
  }
  for (const char* possible :
       {"#ifndef WIN32", "#if !defined(_WIN32)", "#if defined(__linux__) || defined(__APPLE__)",
        "#ifdef X // _WIN32", "#if !(defined(_WIN32) || defined(_AIX))",
        "#if !(X && defined(_WIN32))", "#if X_WIN32", "#if", "#if !defined(_WIN32) && X"}) {
    CAPTURE(possible);
    CHECK(kept(possible) == "first");
  }
  CHECK(calls(scanned("void f() {\n#ifdef _WIN32\n  a();\n#elif defined(__APPLE__)\n  b();\n"
                      "#elif X\n  c();\n#else\n  d();\n#endif\n}\n")
                  .functions.at(0)) == "c");
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

TEST_CASE("types, tables, threads and continuations are found") {
  const ScannedSource source = scanned(R"(
AP_DECLARE(request_rec *) read_request(conn_rec *c, const char* name, int) { return new_it(c); }
static struct stream *stream_new(struct session *s, std::function<void(X &)> f)
{ switch (s->kind) { case 1: a(); case 2: b(); } s->handler = on_read; s->count = 0; return 0; }
int start() { pthread_create(&t, 0, worker, 0); pool_submit_thread(run_task); }
op ops[] = { {get, 1} };
)");
  REQUIRE(names(source) == "read_request:2 stream_new:3 start:5");
  const ScannedFunction& read = source.functions[0];
  CHECK((read.returns.name == "request_rec" && read.returns.pointer));
  REQUIRE(read.parameters.size() == 3);
  CHECK((read.parameters[0].name == "conn_rec" && read.parameters[0].pointer));
  CHECK((read.parameters[2].name == "int" && !read.parameters[2].pointer));
  const ScannedFunction& make = source.functions[1];
  CHECK(make.returns.name == "stream");
  REQUIRE(make.parameters.size() == 2);
  CHECK(make.parameters[0].name == "session");
  CHECK(make.cases == 2);
  CHECK(make.leaves_to.contains("on_read"));
  CHECK(source.thread_entries.contains("worker"));
  CHECK(!source.thread_entries.contains("run_task"));
  CHECK(source.in_tables.contains("get"));
}

TEST_CASE("tests, examples and other systems are auxiliary, by whole words") {
  for (const char* file : {"test/a.c", "src/foo_test.cc", "examples/a.c", "third_party/z/a.c",
                           "deps/lua/a.c", "src/unit-tests/a.c", "server/mpm/winnt/child.c",
                           "src/test3.c", "t/00unit/a.c", "perf/lat.cpp"}) {
    CHECK(is_auxiliary(file));
  }
  for (const char* file : {"src/latest.c", "src/contest.cpp", "a.c", "toolset/a.c",
                           "src/t_string.c", "src/testbed.c"}) {
    CHECK(!is_auxiliary(file));
  }
}

TEST_CASE("names are read as words") {
  CHECK(fmt::format("{}", fmt::join(words_of("n::HTTPRequest_free2Now"), " ")) ==
        "http request free2 now");
  const auto weight = [](const char* name) { return handling_weight(words_of(name)); };
  CHECK(weight("process_command_ascii") == 3);
  CHECK(weight("ap_process_async_request") == 3);
  CHECK(weight("do_command") == 3);
  CHECK(weight("ngx_http_process_request_headers") == 1.5);  // a part of it
  CHECK(weight("request_handler") == Approx(1.8));
  CHECK(weight("do_the_command") == 0);
  CHECK(weight("command") == 0);
  CHECK((is_main("ServiceMain") && is_main("n::worker_main") && !is_main("main_loop")));
  CHECK((is_about_peers("syncrepl2") && !is_about_peers("reply") && is_about_peers("varnishadm")));
  CHECK((accepts("s_accept") && !accepts("SSL_accept") && !accepts("acceptable")));
  CHECK((!accepts("ap_set_accept_ranges") && !accepts("parseAcceptEncoding")));
  CHECK((is_of_module("src/mod_ssi.c") && !is_of_module("src/model.c")));
}

TEST_CASE("classes have their own name, bases and interface; only arrays are tables") {
  const ScannedSource source = scanned(R"(
class LIB_EXPORT Db final : public Base, private detail::Impl<int> {
 public:
  virtual int put(Key k) = 0;
  Db();
  void inline_one() { a(); }
 private:
  int hidden(int x);
};
LIB_API int lib_send(struct socket *s, const void *data);
int internal(int x);
template <class T> struct Holder { void hold() { b(); } };
extern "C" { int lib_close(struct socket *s); typedef int (*callback)(int x); }
static struct ops one = { .read = read_it };
static struct command all[] = { { "get", get_it } };
)",
                                       "src/lib.h.in");
  CHECK(names(source) == "Db::inline_one:6 Holder::hold:12");
  CHECK(fmt::format("{}", fmt::join(source.bases.at("Db"), " ")) == "Base Impl int");
  std::string shown;
  for (const auto& [name, file] : source.interface) {
    shown += name + " ";
  }
  CHECK(shown == "Db::put lib_close lib_send ");
  CHECK((source.passed_on.contains("read_it") && !source.in_tables.contains("read_it")));
  CHECK((source.passed_on.contains("get_it") && source.in_tables.contains("get_it")));
  CHECK(scanned("int internal(int x);", "lib/include/x.h").interface.size() == 1);
  CHECK(scanned("int internal(int x);", "lib/include/x.c").interface.empty());
}

TEST_CASE("a name with a file means only what is there") {
  const ScannedSource source = scanned("int n::f(int x) { return x; }", "src/a.cc");
  const ScannedFunction& f = source.functions[0];
  for (const char* name : {"n::f", "f", "f@src/a.cc", "n::f@src/a.cc:1"}) {
    CHECK(may_mean(name, f));
  }
  for (const char* name : {"f@a.cc", "f@lib/a.cc", "g@src/a.cc"}) {
    CHECK(!may_mean(name, f));
  }
}

TEST_CASE("an entry of the catalogue is recognised by its functions") {
  CatalogueEntry entry;
  entry.names = {"server"};
  entry.functions = {"begin_it@a.c", "end_it", "n::C::turn"};
  const auto source =
      scanned("void begin_it() {} void end_it() {} void MACRO::C::turn() {}", "a.c");
  CHECK(missing_functions(entry, source).empty());
  CHECK(entry_of({entry}, source) != nullptr);
  CHECK(entry_of({entry, entry}, source) == nullptr);  // which one, nobody knows
  const auto other = scanned("void begin_it() {}", "a.c");
  CHECK(fmt::format("{}", fmt::join(missing_functions(entry, other), " ")) == "end_it n::C::turn");
  CHECK(entry_of({entry}, other) == nullptr);
  // A copy of a library among the tests or dependencies does not make the program.
  CHECK(entry_of({entry}, scanned("void begin_it() {} void end_it() {} void n::C::turn() {}",
                                  "third_party/a.c")) == nullptr);
  entry.functions.pop_back();
  CHECK(entry_of({entry}, source) == nullptr);  // too few to be sure
  entry.functions = {"n::C::C", "n::C::~C"};
  CHECK(missing_functions(entry, scanned("n::C::C() {} n::C::~C() {}", "a.cpp")).empty());
}
