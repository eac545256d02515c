#include "program/program_json.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "vprof/support/files.h"

namespace vprof::instrumenter {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;
constexpr std::array<std::pair<Form, const char*>, 7> kForms{{{Form::kStatement, "statement"},
                                                              {Form::kLvalue, "lvalue"},
                                                              {Form::kExpression, "expression"},
                                                              {Form::kValue, "value"},
                                                              {Form::kVoid, "void"},
                                                              {Form::kGuard, "guard"},
                                                              {Form::kRefused, "refused"}}};
constexpr std::array<std::pair<CallKind, const char*>, 5> kKinds{
    {{CallKind::kDirect, "direct"},
     {CallKind::kVirtual, "virtual"},
     {CallKind::kIndirect, "indirect"},
     {CallKind::kSpawn, "spawn"},
     {CallKind::kCallback, "callback"}}};

template <class T, size_t N>
const char* name_of(const std::array<std::pair<T, const char*>, N>& names, T value) {
  for (const auto& [known, name] : names) {
    if (known == value) {
      return name;
    }
  }
  return "";
}

template <class T, size_t N>
T value_of(const std::array<std::pair<T, const char*>, N>& names, const std::string& text,
           T otherwise) {
  for (const auto& [value, name] : names) {
    if (text == name) {
      return value;
    }
  }
  return otherwise;
}

json to_json(const Call& call) {
  json out{{"name", call.callee_name}, {"begin", call.begin}, {"end", call.end},
           {"line", call.line},        {"col", call.column},  {"form", name_of(kForms, call.form)}};
  // What is usually empty or the default is left out: a large program has hundreds of thousands of
  // calls.
  if (call.callee_key != call.callee_name + "@") {
    out["key"] = call.callee_key;
  }
  if (!call.callee_usr.empty()) {
    out["usr"] = call.callee_usr;
  }
  if (!call.type.empty()) {
    out["type"] = call.type;
  }
  if (!call.macro.empty()) {
    out["macro"] = call.macro;
  }
  if (call.kind != CallKind::kDirect) {
    out["kind"] = name_of(kKinds, call.kind);
  }
  if (call.noreturn) {
    out["noreturn"] = true;
  }
  if (call.trivial) {
    out["trivial"] = true;
  }
  if (call.full_expr != call.begin) {
    out["full"] = call.full_expr;
  }
  if (!call.file.empty()) {
    out["file"] = call.file;
  }
  if (!call.reason.empty()) {
    out["reason"] = call.reason;
  }
  return out;
}

Call call_from_json(const json& in) {
  Call call;
  call.callee_name = in.at("name");
  call.callee_key = in.value("key", call.callee_name + "@");
  call.callee_usr = in.value("usr", "");
  call.type = in.value("type", "");
  call.macro = in.value("macro", "");
  call.kind = value_of(kKinds, in.value("kind", "direct"), CallKind::kDirect);
  call.form = value_of(kForms, in.at("form").get<std::string>(), Form::kRefused);
  call.noreturn = in.value("noreturn", false);
  call.trivial = in.value("trivial", false);
  call.begin = in.at("begin");
  call.end = in.at("end");
  call.full_expr = in.value("full", call.begin);
  call.line = in.at("line");
  call.column = in.at("col");
  call.file = in.value("file", "");
  call.reason = in.value("reason", "");
  return call;
}

}  // namespace

json to_json(const Function& f) {
  json out{{"key", f.key}, {"name", f.name}, {"height", f.height}};
  if (!f.usr.empty()) {
    out["usr"] = f.usr;
  }
  if (f.file.empty()) {
    return out;
  }
  out.update({{"file", f.file},
              {"line", f.line},
              {"col", f.column},
              {"body", f.body},
              {"head_begin", f.head_begin},
              {"name_begin", f.name_begin},
              {"name_end", f.name_end},
              {"body_end", f.body_end},
              {"params", f.params}});
  const std::pair<const char*, bool> flags[] = {{"cxx", f.is_cxx},        {"trivial", f.trivial},
                                                {"in_tree", f.in_tree},   {"void", f.returns_void},
                                                {"variadic", f.variadic}, {"method", f.is_method}};
  for (const auto& [name, set] : flags) {
    if (set) {
      out[name] = true;
    }
  }
  if (!f.refused.empty()) {
    out["refused"] = f.refused;
  }
  if (!f.type.empty()) {
    out["type"] = f.type;
  }
  if (!f.overrides.empty()) {
    out["overrides"] = f.overrides;
  }
  json calls = json::array();
  for (const Call& call : f.calls) {
    calls.push_back(to_json(call));
    if (call.file == f.file) {
      calls.back().erase("file");
    }
  }
  out["calls"] = std::move(calls);
  return out;
}

Function function_from_json(const json& in) {
  Function f;
  f.key = in.at("key");
  f.name = in.at("name");
  f.usr = in.value("usr", "");
  f.height = in.value("height", 0);
  f.file = in.value("file", "");
  if (f.file.empty()) {
    return f;
  }
  f.line = in.at("line");
  f.column = in.at("col");
  f.body = in.at("body");
  f.head_begin = in.at("head_begin");
  f.name_begin = in.at("name_begin");
  f.name_end = in.at("name_end");
  f.body_end = in.at("body_end");
  f.params = in.at("params").get<std::vector<std::string>>();
  f.is_cxx = in.value("cxx", false);
  f.trivial = in.value("trivial", false);
  f.in_tree = in.value("in_tree", false);
  f.returns_void = in.value("void", false);
  f.variadic = in.value("variadic", false);
  f.is_method = in.value("method", false);
  f.refused = in.value("refused", "");
  f.type = in.value("type", "");
  f.overrides = in.value("overrides", std::vector<std::string>());
  for (const json& call : in.at("calls")) {
    f.calls.push_back(call_from_json(call));
    if (f.calls.back().file.empty()) {
      f.calls.back().file = f.file;
    }
  }
  return f;
}

json to_json(const Unit& unit) {
  json out{{"file", unit.file}, {"deps", unit.deps}};
  if (!unit.error.empty()) {
    out["error"] = unit.error;
  }
  if (!unit.address_taken.empty()) {
    out["address_taken"] = unit.address_taken;
  }
  return out;
}

Unit unit_from_json(const json& in) {
  return {in.at("file"), in.at("deps").get<std::vector<std::string>>(), in.value("error", ""),
          in.value("address_taken", std::vector<std::string>())};
}

Result<Program> load_program(const std::string& path) {
  auto text = VPROF_TRY(read_file(path));
  try {
    const json document = json::parse(text);
    if (document.at("schema") != kSchema) {
      return fail("{}: made by another version of vprof; run vprof index", path);
    }
    Program program;
    for (const json& f : document.at("functions")) {
      program.functions.push_back(function_from_json(f));
    }
    for (const json& u : document.at("units")) {
      program.units.push_back(unit_from_json(u));
    }
    program.file_hashes = document.at("files").get<std::map<std::string, std::string>>();
    program.conflicts = document.at("conflicts").get<std::vector<std::string>>();
    program.finish();
    return program;
  } catch (const json::exception& e) {
    return fail("{}: not an index ({}); run vprof index", path, e.what());
  }
}

Result<void> save_program(const Program& program, const std::string& path) {
  json functions = json::array();
  for (const Function& f : program.functions) {
    functions.push_back(to_json(f));
  }
  json units = json::array();
  for (const Unit& u : program.units) {
    units.push_back(to_json(u));
  }
  const json document{{"schema", kSchema},
                      {"functions", std::move(functions)},
                      {"units", std::move(units)},
                      {"files", program.file_hashes},
                      {"conflicts", program.conflicts}};
  // Source text may hold bytes that are not UTF-8 (old comments, spelled callees): replaced, never
  // a failure.
  return write_file_with_parents(path, document.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace vprof::instrumenter
