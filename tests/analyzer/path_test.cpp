// Hand-written recordings of one thread, and the times of its frames.
#include "path_case.h"
#include "vprof/analyzer/timeline.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

TEST_CASE("frames nest, and the rest of each is its body") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.frame(c.h_entry, 120, 130);
  t.frame(c.g_entry, 115, 140);
  t.frame(c.f_entry, 110, 160);
  t.end(1, 200);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 50},
                                      {"request/f/body(f)", 25},
                                      {"request/f/g/body(g)", 15},
                                      {"request/f/g/h", 10}});
}

TEST_CASE("frames that enclose begin or end are clipped") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.frame(c.g_entry, 90, 110);
  t.frame(c.f_entry, 50, 130);
  t.end(1, 150);
  t.frame(c.h_entry, 140, 170);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 20},
                                      {"request/f/g", 10},
                                      {"request/h", 10}});
}

TEST_CASE("recursion folds onto the first occurrence") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 40, 50);  // h in f in g in f
  t.frame(c.f_entry, 30, 60);
  t.frame(c.g_entry, 20, 80);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 20 + 10 + 20},
                                      {"request/f/g", 10 + 20},
                                      {"request/f/h", 10}});
}

TEST_CASE("what lies between two calls of a wrapper stays") {
  Case c;
  const uint32_t call = c.sites.library("std::function::operator()", 4);
  const uint32_t f_calls = c.sites.call_site(c.f, call), g_calls = c.sites.call_site(c.g, call);
  const uint32_t call_calls = c.sites.call_site(call, call);
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 50, 60);  // f, call, g, call, h
  t.frame(g_calls, 40, 70);
  t.frame(c.g_entry, 30, 80);
  t.frame(f_calls, 20, 90);
  t.frame(c.f_entry, 10, 100);
  t.frame(c.f_entry, 150, 160);  // f, call, call, g, call, f
  t.frame(g_calls, 140, 170);
  t.frame(c.g_entry, 130, 180);
  t.frame(call_calls, 125, 185);
  t.frame(f_calls, 120, 190);
  t.frame(c.f_entry, 110, 200);
  t.end(1, 200);
  const std::string outer = "request/f/std::function::operator()";
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 10 + 10},
               {"request/f/body(f)", 20 + 20},
               {outer + "/body(std::function::operator())", 20 + 10 + 10},
               {outer + "/g/body(g)", 20 + 20},
               {outer + "/g/std::function::operator()/body(std::function::operator())", 20 + 20},
               {outer + "/g/std::function::operator()/f", 10},  // not in f without g
               {outer + "/g/std::function::operator()/h", 10}});
}

TEST_CASE("a chain of handlers behind one wrapper keeps its handlers") {
  Case c;
  // next calls std::function::operator(), which calls f, g or h; these call next again.
  const uint32_t call = c.sites.library("std::function::operator()", 4);
  const uint32_t next = c.sites.function("next", 5);
  const uint32_t next_entry = c.sites.function_site(next), calls = c.sites.call_site(next, call);
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 50, 60);
  t.frame(calls, 45, 65);
  t.frame(next_entry, 40, 70);
  t.frame(c.g_entry, 35, 75);
  t.frame(calls, 30, 80);
  t.frame(next_entry, 25, 85);
  t.frame(c.f_entry, 20, 90);
  t.frame(calls, 15, 95);
  t.frame(next_entry, 10, 100);
  // The same handler within itself is recursion.
  t.frame(c.f_entry, 140, 150);
  t.frame(calls, 130, 160);
  t.frame(next_entry, 125, 165);
  t.frame(c.f_entry, 120, 170);
  t.frame(calls, 110, 180);
  t.frame(next_entry, 105, 190);
  t.end(1, 200);
  const std::string step = "/next/std::function::operator()";
  const std::string g_step = step + "/f" + step;
  const std::string h_step = g_step + "/g" + step;
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10 + 5 + 10},
                                      {"request/next/body(next)", 10 + 15},
                                      {"request" + step + "/body(std::function::operator())", 30},
                                      {"request" + step + "/f/body(f)", 10 + 10 + 10},
                                      {"request" + step + "/f/next/body(next)", 10 + 10},
                                      {"request" + g_step + "/body(std::function::operator())", 30},
                                      {"request" + g_step + "/g/body(g)", 10},
                                      {"request" + g_step + "/g/next/body(next)", 10},
                                      {"request" + h_step + "/body(std::function::operator())", 10},
                                      {"request" + h_step + "/h", 10}});
}

TEST_CASE("what a wrapper of the program was given stays, what it calls itself folds") {
  Case c;
  const uint32_t guarded = c.sites.wrapper("guarded", 5);
  const uint32_t entry = c.sites.function_site(guarded);
  const uint32_t own_call = c.sites.call_site(guarded, c.f);
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.g_entry, 40, 50);  // guarded called f, and f called guarded again, which called g
  t.frame(entry, 30, 60);
  t.frame(c.f_entry, 20, 70);
  t.frame(entry, 10, 80);
  t.frame(c.g_entry, 130, 140);  // the call of f is in the text of guarded
  t.frame(entry, 120, 150);
  t.frame(own_call, 110, 160);
  t.frame(entry, 100, 170);
  t.end(1, 170);
  const auto found = leaves(c.profile());
  CHECK(found.at("request/guarded/f/guarded/g") == 10);
  CHECK(found.at("request/guarded/f/guarded/body(guarded)") == 20);
  CHECK(found.at("request/guarded/g") == 10);
  CHECK(found.at("request/guarded/body(guarded)") == 20 + 20 + 20);
}

TEST_CASE("a function frame directly inside a call of the function is the same node") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 30, 40);
  t.frame(c.g_entry, 20, 60);
  t.frame(c.g_in_f, 15, 65);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  const auto profile = c.profile();
  CHECK(leaves(profile) == Leaves{{"request/body(request)", 10},
                                  {"request/f/body(f)", 40},
                                  {"request/f/g/body(g)", 40},
                                  {"request/f/g/h", 10}});
  const auto& f = profile.tree.children[profile.tree.children[0].function == "f" ? 0 : 1];
  for (const auto& child : f.children) {
    if (child.function == "g") {
      CHECK(child.location == "src/a.c:1004");
    }
  }
}

TEST_CASE("a function whose call is measured needs no frame of its own") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_in_f, 32, 38);  // f calls g, g calls f again, f calls h
  t.frame(c.f_in_g, 30, 40);
  t.frame(c.g_in_f, 20, 60);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 50 + 4},
                                      {"request/f/g", 30},
                                      {"request/f/h", 6}});
}

TEST_CASE("calls evaluated as arguments are siblings") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_in_f, 30, 50);  // g(h()) in f
  t.frame(c.g_in_f, 20, 60);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 50},
                                      {"request/f/g", 20},
                                      {"request/f/h", 20}});
}

TEST_CASE(
    "a call inside a call of the same caller is a child if a function frame lies between them") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_in_f, 30, 40);  // f calls g, g calls f again, f calls h: folds, and h is below f
  t.frame(c.f_entry, 25, 50);
  t.frame(c.g_in_f, 20, 60);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 50 + 15},
                                      {"request/f/g", 15},
                                      {"request/f/h", 10}});
}

TEST_CASE("frames left by longjmp are missing, and nothing else is") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 30, 40);  // its caller g was left by longjmp and has no record
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 10}, {"request/f/body(f)", 80}, {"request/f/h", 10}});
}

TEST_CASE("records of a signal handler may come one slot late") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.h_entry, 50,
          60);  // the handler's frame: recorded before the next one, which ended earlier
  t.frame(c.g_entry, 20, 45);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f/body(f)", 55},
                                      {"request/f/g", 25},
                                      {"request/f/h", 10}});
}

TEST_CASE("timeline: the pieces of the path are in order and without gaps") {
  Case c;
  auto& t = c.thread(1);
  auto& u = c.thread(2);
  t.name = "waiter";
  u.name = "holder";
  t.begin(7, 0);
  t.label(7, 1, "slow");
  t.wait(VPROF_EV_WAIT_MUTEX, {0x20}, 30, 70, 7);
  t.frame(c.f_entry, 10, 90);
  t.end(7, 100);
  u.frame(c.g_entry, 20, 60);
  u.release(VPROF_EV_RELEASE_MUTEX, {0x20}, 65, 7);
  t.begin(7, 200);
  t.end(7, 250);
  (void)c.profile();
  const auto made = analyzer::timeline_of(c.dir.path(), c.dir.path("sites.json"), 7, {});
  REQUIRE(made);
  CHECK(made->key == 7);
  const auto by_id = analyzer::timeline_of(c.dir.path(), c.dir.path("sites.json"), made->id, {});
  REQUIRE(by_id);
  CHECK(by_id->id == made->id);
  CHECK(by_id->others == 0);
  CHECK(made->latency_ns == 100);
  CHECK(made->others == 1);
  CHECK(made->label == "slow");
  std::string story;
  int64_t at = 0;
  for (const analyzer::TimelinePiece& piece : made->pieces) {
    CHECK(piece.from_ns == at);
    at = piece.to_ns;
    story += std::to_string(piece.to_ns) + " " + piece.thread_name + " " + piece.path.back() + "; ";
  }
  CHECK(at == 100);
  CHECK(story ==
        "10 waiter (own time); 30 waiter (own time); 60 holder (own time); 65 holder "
        "untracked(holder); "
        "70 waiter (own time); 90 waiter (own time); 100 waiter (own time); ");
  CHECK(!analyzer::timeline_of(c.dir.path(), c.dir.path("sites.json"), 8, {}));
}

TEST_CASE("timeline: what another thread did is inferred if its wake-up is") {
  const bool crossed = GENERATE(false, true);  // with the wake-up of another waiter
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_COND, {0x10}, 10, 50, 4);
  c.thread(1).end(1, 80);
  if (crossed) {
    c.thread(4).wait(VPROF_EV_WAIT_COND, {0x10}, 5, 55, 4);
    c.thread(3).release(VPROF_EV_RELEASE_COND, {0x10}, 20, 3);
  }
  c.thread(2).frame(c.f_entry, 15, 40);
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 45, 4);
  CHECK(c.profile().losses.inferred_edges == (crossed ? 1u : 0u));
  const auto made = analyzer::timeline_of(c.dir.path(), c.dir.path("sites.json"), 1, {});
  REQUIRE(made);
  size_t others = 0;
  for (const analyzer::TimelinePiece& piece : made->pieces) {
    CHECK(piece.inferred == (crossed && piece.thread != 1));
    others += piece.thread != 1 ? 1 : 0;
  }
  CHECK(others != 0);
}

namespace {

bool has_note(const analyzer::Profile& profile, const std::string& part) {
  const std::vector<std::string>& notes = profile.losses.notes;
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("frames that overlap again and again are those of fibers, and the report says so") {
  const auto overlapping = [](int every) {
    Case c;
    for (int i = 0; i < 2000; ++i) {
      const int64_t from = 100 * i;
      const bool overlap = i % every == 0;
      c.thread(1).begin(0, from);
      c.thread(1).frame(c.f_entry, from + 10, from + 50);
      c.thread(1).frame(c.g_entry, from + (overlap ? 30 : 55), from + 80);
      c.thread(1).end(0, from + 90);
    }
    return c.profile();
  };
  CHECK(has_note(overlapping(10), "switch stacks"));
  CHECK(!has_note(overlapping(1500), "switch stacks"));
  CHECK(has_note(overlapping(1500), "overlapped without nesting"));
}

TEST_CASE("many intervals that never end are a caveat") {
  const auto without_end = [](int every) {
    Case c;
    for (int i = 0; i < 2000; ++i) {
      c.thread(1).begin(0, 100 * i);
      if (i % every != 0) {
        c.thread(1).end(0, 100 * i + 90);
      }
    }
    return c.profile();
  };
  CHECK(has_note(without_end(50), "40 intervals (2.0 %) lack their begin or end"));
  CHECK(!has_note(without_end(150), "lack their begin or end"));
}
