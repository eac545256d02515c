#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "rewrite/function_events.h"
#include "rewrite/instrumentation.h"
#include "rewrite/results.h"
#include "sample.h"
#include "vprof/instrumenter/frontier.h"

using namespace sample;
using namespace vprof;
using namespace vprof::instrumenter;

namespace {

const std::string kText = "int f(void) { g(h(1)); return k(2); }\n";

/// f calls g (statement), h inside its argument, and k; offsets are those of kText.
Program small_program() {
  Program program;
  Function f = function("f", "f.c", 1);
  f.body = 13;
  Function g = function("g", "g.c", 1);
  Function h = function("h", "", 0);
  Function k = function("k", "", 0);
  f.calls = {call(f, g, 14, 22, Form::kStatement), call(f, h, 16, 20, Form::kExpression),
             call(f, k, 30, 34, Form::kExpression)};
  program.functions = {f, g, h, k};
  program.file_hashes["f.c"] = content_hash(kText);
  program.file_hashes["g.c"] = content_hash(kText);
  program.finish();
  return program;
}

Result<Instrumentation> instrumented(const Program& program, const Plan& plan,
                                     const SiteIds& ids = {}) {
  return instrument(program, plan, ids,
                    [](const std::string&) -> Result<std::string> { return kText; });
}

/// Keys; of a call `caller > callee`.
std::set<std::string> names_of(const std::vector<Site>& sites) {
  std::set<std::string> names;
  for (const Site& site : sites) {
    names.insert(site.kind == SiteKind::kFunction ? site.function
                                                  : site.parent + " > " + site.function);
  }
  return names;
}

Plan expand_f() {
  Plan plan;
  plan.expanded = {"f@f.c:1"};
  return plan;
}

}  // namespace

TEST_CASE("an expanded function has a scope, and each of its calls has one") {
  const Result<Instrumentation> result = instrumented(small_program(), expand_f());
  REQUIRE(result);
  CHECK(
      apply_edits(kText, result->edits.at("f.c")) ==
      "#include <vprof/runtime/scope.h>\n#line 1\n"
      "int f(void) { VPROF_FUNCTION(1);  { VPROF_SITE(2); g(VPROF_EXPR(3) h(1) VPROF_EXPR_END); } "
      "return VPROF_EXPR(4) k(2) VPROF_EXPR_END; }\n");
  REQUIRE(result->sites.size() == 4);
  CHECK(result->sites[0].kind == SiteKind::kFunction);
  CHECK(result->sites[1].function == "g@g.c:1");
  CHECK(result->sites[1].parent == "f@f.c:1");
}

TEST_CASE("a plan with many sites has them in the cold form, and so has one of everything") {
  const auto begins_with_cold = [](const Program& program, const Plan& plan) {
    const Result<Instrumentation> result = instrumented(program, plan);
    REQUIRE(result);
    return apply_edits(kText, result->edits.at("f.c"))
        .starts_with("#define VPROF_COLD_SITES 1\n#include <vprof/runtime/scope.h>\n");
  };
  Program program = small_program();
  Plan plan = expand_f();
  CHECK_FALSE(begins_with_cold(program, plan));
  plan.all = true;
  CHECK(begins_with_cold(program, plan));
  plan.all = false;
  for (uint32_t i = 0; i < 100; ++i) {  // in another file, but all units see the same form
    Function more = function("more" + std::to_string(i), "g.c", 10 + i);
    plan.expanded.insert(more.key);
    program.functions.push_back(more);
  }
  program.finish();
  CHECK(begins_with_cold(program, plan));
}

TEST_CASE("a call names the scope that it enters, so its time is recorded once") {
  Plan plan = expand_f();
  plan.expanded.insert("g@g.c:1");
  const Result<Instrumentation> result = instrumented(small_program(), plan);
  REQUIRE(result);
  CHECK(apply_edits(kText, result->edits.at("f.c"))
            .find("{ VPROF_CALL(2, 5); g(VPROF_EXPR(3) h(1)") != std::string::npos);
  CHECK(apply_edits(kText, result->edits.at("g.c")).find("VPROF_FUNCTION(5);") !=
        std::string::npos);
}

TEST_CASE("each form of a call names the scope that it enters") {
  Plan plan = expand_f();
  plan.expanded.insert("g@g.c:1");
  const auto text_of = [&](Form form) {
    Program program = small_program();
    for (Function& f : program.functions) {
      for (Call& c : f.calls) {
        if (c.callee_name == "g") {
          c.form = form;
        }
      }
    }
    const Result<Instrumentation> result = instrumented(program, plan);
    REQUIRE(result);
    return apply_edits(kText, result->edits.at("f.c"));
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(text_of(Form::kExpression), " VPROF_CALL_EXPR(2, 5) g("));
  CHECK(contains(text_of(Form::kValue), " VPROF_CALL_VALUE(0,2, 5) g("));
  CHECK(contains(text_of(Form::kVoid), " VPROF_CALL_VOID(0,2, 5) g("));
  CHECK(contains(text_of(Form::kGuard), " VPROF_CALL_GUARD(2, 5) g("));
}

TEST_CASE("calls in one full expression have slots of their own, others share them") {
  const auto text_of = [](uint32_t full_expr_of_k) {
    Program program = small_program();
    for (Function& f : program.functions) {
      for (Call& c : f.calls) {
        c.form = Form::kValue;
        c.full_expr = c.callee_name == "k" ? full_expr_of_k : 14;
      }
    }
    const Result<Instrumentation> result = instrumented(program, expand_f());
    REQUIRE(result);
    return apply_edits(kText, result->edits.at("f.c"));
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string shared = text_of(23);
  CHECK(contains(shared, "VPROF_FUNCTION_N(1, 2);"));
  CHECK(contains(shared, "VPROF_VALUE(0,2) g(VPROF_VALUE(1,3) h(1)"));
  CHECK(contains(shared, "VPROF_VALUE(0,4) k(2)"));
  const std::string own = text_of(14);
  CHECK(contains(own, "VPROF_FUNCTION_N(1, 3);"));
  CHECK(contains(own, "VPROF_VALUE(2,4) k(2)"));
}

TEST_CASE("virtual and recursive calls are recorded as well as the scope they may enter") {
  Plan plan = expand_f();
  plan.expanded.insert("g@g.c:1");
  Program program = small_program();
  for (Function& f : program.functions) {
    for (Call& c : f.calls) {
      if (c.callee_name == "g") {
        c.kind = CallKind::kVirtual;
      }
      if (c.callee_name == "k") {
        c = call(f, f, 30, 34, Form::kExpression);
      }
    }
  }
  const Result<Instrumentation> result = instrumented(program, plan);
  REQUIRE(result);
  const std::string text = apply_edits(kText, result->edits.at("f.c"));
  CHECK(text.find("{ VPROF_SITE(2); g(") != std::string::npos);
  CHECK(text.find("return VPROF_EXPR(4) k(2)") != std::string::npos);
}

TEST_CASE("sites keep their numbers") {
  const Program program = small_program();
  Result<Instrumentation> first = instrumented(program, expand_f());
  REQUIRE(first);
  SiteIds ids;
  for (const Site& site : first->sites) {
    ids[site_identity(site)] = site.id + 100;
  }
  const Result<Instrumentation> second = instrumented(program, expand_f(), ids);
  REQUIRE(second);
  for (size_t i = 0; i < second->sites.size(); ++i) {
    CHECK(second->sites[i].id == first->sites[i].id + 100);
  }
}

TEST_CASE(
    "a refused call is measured at its callee's entry if that is in the tree, else listed with the "
    "reason") {
  Program program = small_program();
  for (Function& f : program.functions) {
    for (Call& c : f.calls) {
      if (c.callee_name != "k") {
        c.form = Form::kRefused;
        c.reason = Reason::kScattered;
      }
    }
  }
  const Result<Instrumentation> result = instrumented(program, expand_f());
  REQUIRE(result);
  CHECK(result->edits.count("g.c") == 1);
  REQUIRE(result->unwrapped.size() == 1);
  CHECK(result->unwrapped[0].callee == "h");
  CHECK(result->unwrapped[0].reason == Reason::kScattered);
}

TEST_CASE("a function that a macro defines is broken down at the entries of what it calls") {
  // As hooks do: each calls through a pointer of its own type, and all pointers have the same name.
  Program program;
  program.units.push_back({"f.c", {}, "", {}});
  const auto add = [&](const std::string& name, const std::string& type) {
    Function f = function(name, "f.c", static_cast<uint32_t>(program.functions.size()) + 1);
    f.usr = "usr:" + name;
    f.type = type;
    f.body = 13;
    program.functions.push_back(f);
    program.units.front().address_taken.push_back(f.usr);
    return f.key;
  };
  const auto add_hook = [&](const std::string& name, const std::string& type) {
    Function hook = function(name, "hooks.c", static_cast<uint32_t>(program.functions.size()) + 1);
    hook.refused = Reason::kBodyFromMacro;
    Call c = call(hook, function("(*hook)", "", 0), 1, 1, Form::kRefused);
    c.kind = CallKind::kIndirect;
    c.type = type;
    hook.calls = {c};
    program.functions.push_back(hook);
    return hook.key;
  };
  const std::string handler = add("handler", "int (request)");
  add("logger", "void (request)");
  for (int i = 0; i < 65; ++i) {
    add("opener" + std::to_string(i), "int (file)");
  }
  program.functions.push_back(function("(*hook)", "", 0));
  const std::string run_handlers = add_hook("run_handlers", "int (request)");
  const std::string run_closers = add_hook("run_closers", "void (file)");
  const std::string run_openers = add_hook("run_openers", "int (file)");
  program.file_hashes["f.c"] = content_hash(kText);
  program.finish();
  CHECK(program.expandable(*program.by_key(run_handlers)));
  CHECK_FALSE(program.expandable(*program.by_key(run_closers)));  // nothing behind it
  CHECK_FALSE(program.expandable(*program.by_key(run_openers)));  // too many
  Plan plan;
  plan.expanded = {run_handlers, run_openers};
  const Result<Instrumentation> result = instrumented(program, plan);
  REQUIRE(result);
  CHECK(names_of(result->sites) == std::set<std::string>{handler});
}

TEST_CASE("demoted sites and excluded callees stay in the body") {
  Plan plan = expand_f();
  plan.demoted = {"f.c:2:14"};
  plan.exclude = {"k"};
  const Result<Instrumentation> result = instrumented(small_program(), plan);
  REQUIRE(result);
  CHECK(result->sites.size() == 2);
  CHECK(result->unwrapped.size() == 2);
}

TEST_CASE("a demoted function has no scope of its own, and its calls are measured all the same") {
  Program program = small_program();
  for (Function& f : program.functions) {
    for (Call& c : f.calls) {
      c.form = c.callee_name == "g" ? Form::kValue : c.form;
    }
  }
  const Function* f = program.by_key("f@f.c:1");
  REQUIRE(f != nullptr);
  Plan plan = expand_f();
  const Result<Instrumentation> with = instrumented(program, plan);
  REQUIRE(with);
  plan.demoted = {f->file + ":" + std::to_string(f->line) + ":" + std::to_string(f->column)};
  const Result<Instrumentation> without = instrumented(program, plan);
  REQUIRE(without);
  CHECK(without->sites.size() == with->sites.size() - 1);
  const std::string text = apply_edits(kText, without->edits.at("f.c"));
  CHECK(text.find("VPROF_FUNCTION") == std::string::npos);
  CHECK(text.find("VPROF_FRAME_N(1);") != std::string::npos);
}

TEST_CASE("small helpers are spared: what they call is measured at its entry") {
  // f calls the helper g, which calls the helper h, which calls k and the library.
  Function f = function("f", "f.c", 1);
  f.body = 13;
  f.size = 500;
  Function g = function("g", "g.c", 1);
  Function h = function("h", "h.c", 1);
  Function k = function("k", "k.c", 1);
  k.size = 500;
  f.calls = {call(f, g, 14, 22, Form::kStatement)};
  g.calls = {call(g, h, 14, 22, Form::kStatement)};
  h.calls = {call(h, k, 14, 22, Form::kStatement),
             call(h, function("m", "", 0), 30, 34, Form::kExpression)};
  const auto program_of = [](std::vector<Function> functions) {
    Program program;
    for (uint32_t i = 0; i < 3; ++i) {  // more that call the helpers
      Function more = function("more" + std::to_string(i), "", 0);
      more.calls = {call(more, functions[1], 1, 2, Form::kStatement),
                    call(more, functions[2], 3, 4, Form::kStatement)};
      functions.push_back(more);
    }
    program.functions = std::move(functions);
    for (const char* file : {"f.c", "g.c", "h.c", "k.c"}) {
      program.file_hashes[file] = content_hash(kText);
    }
    program.finish();
    return program;
  };
  const Program program = program_of({f, g, h, k, function("m", "", 0)});
  const auto sites_of_plan = [](const Program& of, const Plan& plan) {
    const Result<Instrumentation> result = instrumented(of, plan);
    REQUIRE(result);
    return names_of(result->sites);
  };
  Plan plan;
  plan.all = plan.armed = true;
  const std::set<std::string> armed = {"f@f.c:1", "f@f.c:1 > g@g.c:1", "k@k.c:1"};
  CHECK(sites_of_plan(program, plan) == armed);
  // The frontier of the armed program asks for nothing else.
  plan.all = false;
  plan.expanded = {"f@f.c:1"};
  CHECK(sites_of_plan(program, plan) == std::set<std::string>{"f@f.c:1", "f@f.c:1 > g@g.c:1"});
  plan.expanded = {"f@f.c:1", "g@g.c:1"};
  CHECK(sites_of_plan(program, plan) == armed);
  const Result<Instrumentation> result = instrumented(program, plan);
  REQUIRE(result);
  CHECK(result->unwrapped.empty());
  plan.expanded = {"h@h.c:1"};
  const Result<Instrumentation> inner = instrumented(program, plan);
  REQUIRE(inner);
  REQUIRE(inner->unwrapped.size() == 1);
  CHECK(inner->unwrapped[0].callee == "m");
  CHECK(inner->unwrapped[0].reason == Reason::kInSmallHelper);
  // What has a loop is no helper, however short.
  h.loops = true;
  plan.expanded = {"g@g.c:1"};
  CHECK(sites_of_plan(program_of({f, g, h, k, function("m", "", 0)}), plan) ==
        std::set<std::string>{"h@h.c:1"});
}

TEST_CASE(
    "an armed function whose calls all have sites has no scope: its callers' sites stand for it") {
  // main calls f, f calls g, all large.
  Function top = function("main", "m.c", 1);
  Function f = function("f", "f.c", 1);
  Function g = function("g", "g.c", 1);
  f.usr = "c:@F@f";
  top.calls = {call(top, f, 14, 22, Form::kStatement)};
  f.calls = {call(f, g, 14, 22, Form::kStatement)};
  for (Function* each : {&top, &f, &g}) {
    each->size = 500;
    each->body = 13;
  }
  Program program;
  program.functions = {top, f, g};
  for (const char* file : {"m.c", "f.c", "g.c"}) {
    program.file_hashes[file] = content_hash(kText);
  }
  program.finish();
  Plan all;
  all.all = all.armed = true;
  const Result<Instrumentation> armed = instrumented(program, all);
  REQUIRE(armed);
  CHECK(names_of(armed->sites) ==
        std::set<std::string>{"main@m.c:1", "main@m.c:1 > f@f.c:1", "f@f.c:1 > g@g.c:1"});

  const std::filesystem::path mirror = std::filesystem::temp_directory_path() /
                                       ("vprof-test-frontier-" + std::to_string(::getpid()));
  std::filesystem::create_directories(mirror);
  for (const char* file : {"m.c", "f.c", "g.c"}) {
    std::ofstream(mirror / file) << kText;
  }
  Plan frontier;
  frontier.armed = true;
  frontier.expanded = {"f@f.c:1"};
  const SitesFile armed_sites = sites_of(program, all, *armed, {});
  const Result<SitesFile> on = sites_of_frontier(program, frontier, armed_sites, mirror.string(),
                                                 (mirror / ".pristine").string());
  std::filesystem::remove_all(mirror);
  REQUIRE(on);
  std::set<std::string> names;
  for (const SitesFile::SiteEntry& site : on->sites) {
    CHECK(site.parent.has_value());
    names.insert(on->functions.at(site.function - 1).name);
  }
  CHECK(names == std::set<std::string>{"f", "g"});
  CHECK(on->unwrapped.empty());

  // It may also be entered through a pointer: then the callers' sites do not tell all.
  Unit unit;
  unit.file = "m.c";
  unit.address_taken = {"c:@F@f"};
  program.units = {unit};
  program.finish();
  const Result<Instrumentation> again = instrumented(program, all);
  REQUIRE(again);
  CHECK(names_of(again->sites).contains("f@f.c:1"));
}

TEST_CASE("a guard is used only if it is alone in its full expression") {
  Program program = small_program();
  for (Function& f : program.functions) {
    for (Call& c : f.calls) {
      if (c.callee_name == "k") {
        c.form = Form::kGuard;
      }
      if (c.callee_name == "h") {
        c.form = Form::kGuard;
      }
      if (c.callee_name == "g") {
        c.form = Form::kValue;
      }
      c.full_expr = c.callee_name == "k" ? 23 : 14;
    }
  }
  const Result<Instrumentation> result = instrumented(program, expand_f());
  REQUIRE(result);
  const std::string text = apply_edits(kText, result->edits.at("f.c"));
  CHECK(text.find("VPROF_FUNCTION_N(1, 1);") != std::string::npos);
  CHECK(text.find(") k(2) VPROF_GUARD_END") != std::string::npos);
  CHECK(text.find(") h(1)") == std::string::npos);
}

TEST_CASE("a file that changed since it was indexed is not touched") {
  Program program = small_program();
  program.file_hashes["f.c"] = "0";
  const Result<Instrumentation> result = instrumented(program, expand_f());
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "f.c: changed since it was indexed; run vprof index");
}

TEST_CASE("functions of the configuration must exist, be unambiguous and have a body") {
  Program program = small_program();
  program.functions.push_back(function("twin", "a.c", 1));
  program.functions.push_back(function("twin", "b.c", 1));
  program.finish();
  const auto error_for = [&](const std::string& name) {
    Plan plan;
    plan.intervals.push_back({});
    plan.intervals[0].function = name;
    const Result<Instrumentation> result = instrumented(program, plan);
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  CHECK(error_for("ff").find("did you mean f") != std::string::npos);
  CHECK(error_for("twin").find("ambiguous") != std::string::npos);
  CHECK(error_for("h").find("not defined in the source tree") != std::string::npos);
}

TEST_CASE(
    "a returned value is seen by a wrapper, which has the text before the brace as its head") {
  const std::string text = "void* pop(queue* q) { __label__ again; again: return q->next; }";
  Function pop = function("pop", "q.c", 1);
  pop.name_begin = text.find("pop");
  pop.name_end = text.find('(');
  pop.params = {"q"};
  pop.body_end = text.size();
  pop.body = text.find('{') + 1;
  CHECK(wrapper_edits(pop, "", text));
  pop.body = text.find(" again:");
  const auto behind_a_label = wrapper_edits(pop, "", text);
  REQUIRE_FALSE(behind_a_label);
  CHECK(behind_a_label.error().message.starts_with(
      "pop (q.c:1): its body begins with a local label"));
}

TEST_CASE("a byte order mark stays in front") {
  Program program = small_program();
  const std::string text = "\xEF\xBB\xBF" + kText;
  program.file_hashes["f.c"] = content_hash(text);
  for (Function& f : program.functions) {
    f.body += 3;
    f.calls.clear();
  }
  const Result<Instrumentation> result = instrument(
      program, expand_f(), {}, [&](const std::string&) -> Result<std::string> { return text; });
  REQUIRE(result);
  CHECK(apply_edits(text, result->edits.at("f.c")).substr(0, 12) == "\xEF\xBB\xBF#include ");
}

TEST_CASE("what a function includes as text stays as it is: an enumeration may include it, too") {
  Function f = function("f", "f.c", 1);
  const Function g = function("g", "g.c", 1);
  f.calls = {call(f, g, 14, 22, Form::kStatement)};
  f.calls[0].file = "table.h";
  Program program;
  program.functions = {f, g};
  for (const char* file : {"f.c", "g.c", "table.h"}) {
    program.file_hashes[file] = content_hash(kText);
  }
  program.finish();
  Plan plan;
  plan.expanded = {"f@f.c:1"};
  const Result<Instrumentation> result = instrumented(program, plan);
  REQUIRE(result);
  CHECK_FALSE(result->edits.contains("table.h"));
  CHECK(names_of(result->sites) == std::set<std::string>{"f@f.c:1", "g@g.c:1"});
}
