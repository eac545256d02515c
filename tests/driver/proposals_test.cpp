// What a request may be, as proposed from the text of a source tree.
#include "discovery/candidates.h"

#include <fmt/ranges.h>
#include <catch2/catch.hpp>

using namespace vprof;
using namespace vprof::driver;

namespace {

ScannedSource scanned(std::string_view text, const std::string& file) {
  ScannedSource source;
  scan_text(text, file, source);
  return source;
}

std::string listed(const Proposals& proposals) {
  std::string all;
  for (const Candidate& one : proposals.candidates) {
    all += fmt::format(
        "{}{}", all.empty() ? "" : " ",
        one.function.empty() ? one.begin[0].function + ".." + one.end[0].function : one.function);
  }
  for (const Rejected& one : proposals.rejected) {
    all += " not " + one.function;
  }
  return all;
}

Proposals proposed(const std::string& text, const std::string& file = "s.c") {
  return propose(scanned(text, file), 3, 3);
}

}  // namespace

TEST_CASE("the handler is the function that the server's loop calls, not the loop") {
  const std::string server = R"(
int parse(char* s) { return look(s) + look2(s); }
int store(int x) { return x + write_log(x); }
int reply(int x) { return x; }
void handle(int c) { int x = parse(s); x += store(x); reply(x); log(x); }
int next_client() { return accept(1) + tune(2); }
void serve_clients(int p) { while (p) { int c = next_client(); handle(c); } }
void listen_internal(int p) { while (p) { int c = accept(p); handle(c); more(c); } }
int main() { for (int i = 0; i < 4; ++i) serve_clients(i); listen_internal(1); }
)";
  const Proposals found = proposed(server);
  REQUIRE(!found.candidates.empty());
  CHECK(listed(found).starts_with("handle "));
  CHECK(listed(found).find("not listen_internal") != std::string::npos);
  CHECK(found.candidates[0].place == "s.c:5");
  CHECK(fmt::format("{}", fmt::join(found.candidates[0].reasons, "; ")) ==
        "called in a loop of serve_clients (s.c:7); 4 callees, 3 functions below; 2 calls from "
        "where its thread begins");
  for (const Rejected& one : found.rejected) {
    if (one.function == "listen_internal") {
      CHECK(one.reason == "calls accept in a loop: the life of the server");
    }
  }
  CHECK(proposed("int main() { return 0; }").candidates.empty());
  CHECK(proposed(server, "test/s.c").candidates.empty());
}

TEST_CASE("a step that leaves the rest to a callback comes behind the life of its request") {
  std::string server = R"(
struct request *create_request(struct conn *c) { return alloc(c); }
void free_request(struct request *r) { release(r); }
void on_headers(struct event *e) { struct request *r = e->r; while (more(r)) process_request(r); }
void on_read(struct event *e) { e->r = create_request(e->c); e->handler = on_headers; on_headers(e); }
void process_request(struct request *r) { step0(r); step1(r); step2(r); r->handler = step5; log(r); }
void done(struct request *r) { free_request(r); free_more(r); }
int main() { add_event(on_read, 1); for (;;) turn(); }
)";
  for (int i = 0; i < 12; ++i) {
    server +=
        fmt::format("void step{}(struct request *r) {{ if (x) look(r); else done(r); }}\n", i);
  }
  const Proposals found = proposed(server);
  REQUIRE(!found.candidates.empty());
  const Candidate& first = found.candidates[0];
  REQUIRE(first.function.empty());
  CHECK(first.begin[0].function == "create_request");
  CHECK(first.begin[0].at == "exit");
  CHECK(first.begin[0].key == "return");
  CHECK(first.end[0].function == "free_request");
  CHECK(first.end[0].key == "arg:0");
  REQUIRE(first.switches.size() == 1);
  CHECK(first.switches[0].function == "step5");
  CHECK(first.switches[0].key == "arg:0");
}

TEST_CASE("the state machine of an event-driven server is a handler, though it also accepts") {
  std::string server =
      "void on_event(int fd) { drive(fd); }\nint main() { add_event(on_event, 1); }\n"
      "void drive(int c) { while (!stop) { switch (state) {\ncase 99: accept(c); break;\n";
  for (int i = 0; i < 12; ++i) {
    server += fmt::format("case {}: step{}(c); break;\n", i, i);
  }
  server += "} } }\n";
  const Proposals found = proposed(server);
  REQUIRE(!found.candidates.empty());
  CHECK(found.candidates[0].function == "drive");
  CHECK(fmt::format("{}", fmt::join(found.candidates[0].reasons, "; ")) ==
        "loops once per event: a state machine; 13 callees, 0 functions below; 2 calls from where "
        "its thread begins; chooses among 13 cases");
}

TEST_CASE("what users of a library call comes first where nothing serves clients") {
  const std::string library = R"(
int lib_step(struct st *s) { return step0(s) + step1(s) + step2(s); }
int lib_open(struct st *s) { return step0(s) + step1(s) + step2(s); }
int lib_rare(struct st *s) { return step0(s) + step1(s) + step2(s); }
int step0(struct st *s) { return step1(s) + other(s); }
int step1(struct st *s) { return step2(s) + another(s); }
int step2(struct st *s) { return last(s); }
int last(struct st *s) { return s->x; }
)";
  ScannedSource source = scanned(library, "src/lib.c");
  scan_text("int lib_step(struct st *s); int lib_open(struct st *s); int lib_rare(struct st *s);",
            "include/lib.h", source);
  scan_text("int main() { lib_open(s); lib_rare(s); while (lib_step(s)) { lib_step(s); } }",
            "tests/a.c", source);
  const Proposals found = propose(source, 3, 3);
  CHECK(listed(found).starts_with("lib_step lib_rare"));
  CHECK(listed(found).find("lib_open") == std::string::npos);
  CHECK(fmt::format("{}", fmt::join(found.candidates[0].reasons, "; ")) ==
        "what users of the library call (include/lib.h); called 2 times in tests, examples and "
        "programs, 2 in loops; 4 functions below");
  // A server knows its requests itself, whatever it declares.
  scan_text("int main() { for (;;) { epoll_wait(e); lib_step(s); } }", "src/main.c", source);
  for (const Candidate& one : propose(source, 9, 3).candidates) {
    CHECK(one.reasons[0].find("users of the library") == std::string::npos);
  }
}

TEST_CASE("a method that overrides one of the interface is what users call") {
  ScannedSource source = scanned(R"(
int DbImpl::get(int k) { return a(k) + b(k); } int a(int k) { return b(k); }
int b(int k) { return c(k); } int c(int k) { return d(k); } int d(int k) { return k; }
class DbImpl : public Db { int get(int k) override; };
)",
                                 "db/db_impl.cc");
  scan_text("class LIB_EXPORT Db { public: virtual int get(int k) = 0; };", "api/db.h", source);
  scan_text("void f() { for (int i = 0; i < 9; ++i) db->get(i); }", "bench/b.cc", source);
  CHECK(listed(propose(source, 1, 0)) == "DbImpl::get");
}

TEST_CASE("functions of one name are proposed with their file, overloads with their line") {
  const auto twice = [](const std::string& ending) {
    ScannedSource source;
    for (const std::string directory : {"src", "lib"}) {
      const std::string own = directory + "0(c); " + directory + "1(c); ";
      scan_text(fmt::format("int handle_packet(int c) {{ {0}more(c); }}\n"
                            "void serve_{1}() {{ for (;;) {{ handle_packet(1); }} }}\n",
                            own, directory),
                directory + "/read" + ending, source);
    }
    return source;
  };
  CHECK(listed(propose(twice(".c"), 2, 0)) == "handle_packet@src/read.c handle_packet@lib/read.c");
  const std::string overloads = R"(
int handle_packet(int c) { a(c); b(c); d(c); }
int handle_packet(long c) { a(c); b(c); }
int main() { for (;;) { handle_packet(1); } }
)";
  CHECK(listed(proposed(overloads, "s.cc")).starts_with("handle_packet@s.cc:2 "));
  CHECK(listed(proposed(overloads, "s.c")).starts_with("handle_packet "));
}

TEST_CASE("a task that is named after a request handles it, unlike a step that an object stores") {
  const std::string server = R"(
void *run_operation(void *arg) { look(arg); answer(arg); more(arg); }
void *next_step(void *arg) { look(arg); answer(arg); more(arg); }
int on_read(struct conn *c) { pool_submit(&pool, run_operation, c); c->next = next_step; }
int main() { add_event(on_read, 1); }
)";
  const Proposals found = proposed(server);
  REQUIRE(!found.candidates.empty());
  CHECK(found.candidates[0].function == "run_operation");
  CHECK(fmt::format("{}", fmt::join(found.candidates[0].reasons, "; ")) ==
        "its name says that it handles one; given to a pool of threads: a task; 3 callees, 0 "
        "functions below; 1 call from where its thread begins");
  for (const Candidate& one : found.candidates) {
    if (one.function == "next_step") {
      CHECK(
          one.reasons.back() ==
          "against it: an object stores it as its next step, so a request may take several calls");
    }
  }
}

TEST_CASE("objects that are made ready for the next request do not live for one") {
  std::string server = R"(
struct request *request_new(struct conn *c) { return alloc(c); }
void request_free(struct request *r) { release(r); }
void on_read(struct event *e) { e->r = request_new(e->c); step0(e->r); request_free(e->r); }
int main() { add_event(on_read, 1); }
)";
  for (int i = 0; i < 12; ++i) {
    server += fmt::format("void step{}(struct request *r) {{ look(r); more(r); }}\n", i);
  }
  const Candidate before = proposed(server).candidates[0];
  CHECK(before.begin[0].function == "request_new");
  const Proposals found = proposed(server + "void request_reset(struct request *r) { clear(r); }");
  for (const Candidate& one : found.candidates) {
    if (one.function.empty()) {
      CHECK(one.score < before.score / 2);
      CHECK(fmt::format("{}", fmt::join(one.reasons, "; "))
                .find("against it: request_reset makes one ready for the next") !=
            std::string::npos);
    }
  }
}

TEST_CASE("between clients and servers, requests come from the clients") {
  const std::string proxy = R"(
int client_proto(int c) { parse(c); pass(c); answer(c); }
int server_proto(int c) { parse(c); pass(c); answer(c); more(c); }
int main() { add_event(client_proto, 1); add_event(server_proto, 1); }
)";
  CHECK(listed(proposed(proxy, "src/client.c")).starts_with("client_proto server_proto"));
}

TEST_CASE("a thread that is begun for each client is no life of the server") {
  const std::string server = R"(
void *client_thread(void *arg) { greet(arg); talk(arg); end(arg); }
void *cron_thread(void *arg) { clean(arg); rotate(arg); }
int create_client(int s) { return pthread_create(&t, 0, client_thread, s); }
int start_cron() { return pthread_create(&t, 0, cron_thread, 0); }
int accept_connection(int s) { int c = s_accept(s); return create_client(c); }
int main() { start_cron(); while (1) { accept_connection(1); } }
)";
  const Proposals found = proposed(server);
  REQUIRE(!found.candidates.empty());
  CHECK(listed(found).find("not accept_connection") != std::string::npos);
  CHECK(listed(found).find("not cron_thread") != std::string::npos);
  CHECK(found.candidates[0].function == "client_thread");
  CHECK(found.candidates[0].reasons[0] ==
        "accept_connection passes it on when it accepts a client (s.c:6)");
}

TEST_CASE("what accepts clients is named as such, whatever errors it tells apart") {
  const std::string server = R"(
int on_listen(int s) { do { int c = net_accept_client(s); tune(c); connection_state_machine(c); }
  while (more(s)); switch (error) { case 1: case 2: case 3: case 4: case 5: report(s); } }
int connection_state_machine(int c) { do { read_it(c); answer(c); } while (more(c)); }
int main() { add_event(on_listen, 1); }
)";
  const Proposals found = proposed(server);
  CHECK(listed(found) == "connection_state_machine not on_listen");
  CHECK(found.rejected[0].reason == "accepts clients (net_accept_client)");
  CHECK(fmt::format("{}", fmt::join(found.candidates[0].reasons, "; "))
            .find("its name says that it is a state machine") != std::string::npos);
}
