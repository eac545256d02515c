// The fields of index.json and of the index cache. A large program has hundreds of thousands of
// calls, so what is empty or follows from other fields is left out.
#pragma once

#include "program/forms.h"
#include "vprof/instrumenter/program.h"
#include "vprof/support/json_fields.h"

namespace vprof::json {

/// The words of an enum from a table with a row per value.
template <class Row, size_t kRows>
constexpr std::array<const char*, kRows> words_of(const std::array<Row, kRows>& table,
                                                  const char* Row::* word) {
  std::array<const char*, kRows> words{};
  for (size_t i = 0; i < kRows; ++i) {
    words[i] = table[i].*word;
  }
  return words;
}

template <>
struct Words<instrumenter::Form> {
  static constexpr auto kWords = words_of(instrumenter::kForms, &instrumenter::FormRule::word);
};

template <>
struct Words<instrumenter::Reason> {
  static constexpr auto kWords = words_of(instrumenter::kReasons, &instrumenter::ReasonText::text);
};

template <>
struct Words<instrumenter::CallKind> {
  static constexpr std::array kWords = {"direct",   "virtual", "indirect", "spawn",
                                        "callback", "task",    "instance"};
};

template <>
struct Object<instrumenter::Call> {
  using T = instrumenter::Call;
  static constexpr auto kFields = std::tuple{required("name", &T::callee_name),
                                             non_default("key", &T::callee_key),
                                             non_default("usr", &T::callee_usr),
                                             non_default("type", &T::type),
                                             non_default("to_key", &T::receiver_key),
                                             non_default("to", &T::receiver_name),
                                             non_default("to_usr", &T::receiver_usr),
                                             non_default("macro", &T::macro),
                                             non_default("macro_file", &T::macro_file),
                                             non_default("macro_line", &T::macro_line),
                                             non_default("kind", &T::kind),
                                             required("form", &T::form),
                                             non_default("noreturn", &T::noreturn),
                                             non_default("trivial", &T::trivial),
                                             non_default("loop", &T::in_loop),
                                             required("begin", &T::begin),
                                             required("end", &T::end),
                                             optional("full", &T::full_expr),
                                             required("line", &T::line),
                                             required("col", &T::column),
                                             non_default("file", &T::file),
                                             non_default("reason", &T::reason)};

  static void written(const T& call, Json& out) {
    if (call.callee_key == call.callee_name + "@") {
      out.erase("key");
    }
    if (call.full_expr == call.begin) {
      out.erase("full");
    }
  }
  static void check(T& call, const Json& from) {
    if (call.callee_key.empty()) {
      call.callee_key = call.callee_name + "@";
    }
    if (!from.contains("full")) {
      call.full_expr = call.begin;
    }
  }
};

template <>
struct Words<instrumenter::AwaitKind> {
  static constexpr std::array kWords = {"object", "call", "yield"};
};

template <>
struct Object<instrumenter::Suspension> {
  using T = instrumenter::Suspension;
  static constexpr auto kFields = std::tuple{
      required("name", &T::name), non_default("type", &T::type),    required("file", &T::file),
      required("kind", &T::kind), required("form", &T::form),       required("begin", &T::begin),
      required("end", &T::end),   required("operand", &T::operand), required("line", &T::line),
      required("col", &T::column)};
};

template <>
struct Object<instrumenter::SpinLoop> {
  using T = instrumenter::SpinLoop;
  static constexpr auto kFields =
      std::tuple{required("line", &T::line), non_default("object", &T::object),
                 non_default("alone", &T::alone)};
};

template <>
struct Object<instrumenter::Function> {
  using T = instrumenter::Function;
  static constexpr auto kFields = std::tuple{required("key", &T::key),
                                             required("name", &T::name),
                                             non_default("usr", &T::usr),
                                             optional("height", &T::height),
                                             non_default("file", &T::file),
                                             optional("line", &T::line),
                                             optional("col", &T::column),
                                             optional("body", &T::body),
                                             optional("head_begin", &T::head_begin),
                                             optional("name_begin", &T::name_begin),
                                             optional("name_end", &T::name_end),
                                             optional("body_end", &T::body_end),
                                             optional("params", &T::params),
                                             non_default("cxx", &T::is_cxx),
                                             non_default("trivial", &T::trivial),
                                             non_default("size", &T::size),
                                             non_default("loops", &T::loops),
                                             non_default("unique", &T::unique),
                                             optional("labels", &T::labels),
                                             non_default("endless", &T::endless),
                                             non_default("inline", &T::is_inline),
                                             non_default("in_tree", &T::in_tree),
                                             non_default("void", &T::returns_void),
                                             non_default("variadic", &T::variadic),
                                             non_default("method", &T::is_method),
                                             non_default("refused", &T::refused),
                                             non_default("type", &T::type),
                                             non_default("overrides", &T::overrides),
                                             non_default("spins", &T::spins),
                                             non_default("coroutine", &T::coroutine),
                                             non_default("returns", &T::returns),
                                             non_default("suspensions", &T::suspensions),
                                             non_default("bare_macros", &T::bare_macros),
                                             optional("calls", &T::calls)};

  static void written(const T& function, Json& out) {
    if (function.file.empty()) {
      for (const char* field : {"line", "col", "body", "head_begin", "name_begin", "name_end",
                                "body_end", "params", "calls"}) {
        out.erase(field);
      }
      return;
    }
    Json& calls = out["calls"];
    for (size_t i = 0; i < calls.size(); ++i) {
      if (function.calls[i].file == function.file) {
        calls[i].erase("file");
      }
    }
  }
  static void check(T& function, const Json& /*from*/) {
    for (instrumenter::Call& call : function.calls) {
      if (call.file.empty()) {
        call.file = function.file;
      }
    }
  }
};

template <>
struct Object<instrumenter::Unit> {
  using T = instrumenter::Unit;
  static constexpr auto kFields =
      std::tuple{required("file", &T::file), required("deps", &T::deps),
                 non_default("error", &T::error), non_default("address_taken", &T::address_taken)};
};

template <>
struct Object<instrumenter::Program> {
  using T = instrumenter::Program;
  static constexpr auto kFields =
      std::tuple{required("functions", &T::functions), required("units", &T::units),
                 required("files", &T::file_hashes), required("conflicts", &T::conflicts)};
  static constexpr int kSchema = 1;

  static void written(const T& /*program*/, Json& out) { out["schema"] = kSchema; }
};

}  // namespace vprof::json
