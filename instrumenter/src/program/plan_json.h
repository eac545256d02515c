// The fields of plan.json.
#pragma once

#include "vprof/instrumenter/plan.h"
#include "vprof/support/json_fields.h"

namespace vprof::json {

template <>
struct Words<instrumenter::At> {
  static constexpr std::array kWords = {"entry", "exit"};
};

template <>
struct Words<instrumenter::SyncRole> {
  static constexpr std::array kWords = {"acquire", "release", "enqueue", "dequeue"};
};

template <>
struct Text<instrumenter::Value> {
  static const std::string& write(const instrumenter::Value& value) { return value.text; }
  static instrumenter::Value read(const std::string& text) {
    auto value = instrumenter::parse_value(text);
    if (!value) {
      throw ReadError(value.error().message);
    }
    return *std::move(value);
  }
};

template <>
struct Object<instrumenter::IntervalPoint> {
  using T = instrumenter::IntervalPoint;
  static constexpr auto kFields = std::tuple{required("function", &T::function),
                                             optional("at", &T::at), required("key", &T::key)};
};

template <>
struct Object<instrumenter::LabelPoint> {
  using T = instrumenter::LabelPoint;
  static constexpr auto kFields =
      std::tuple{required("function", &T::function), optional("at", &T::at),
                 required("value", &T::value), non_default("key", &T::key)};
};

template <>
struct Object<instrumenter::IntervalPlan> {
  using T = instrumenter::IntervalPlan;
  static constexpr auto kFields = std::tuple{
      required("index", &T::index),          required("name", &T::name),
      non_default("function", &T::function), non_default("begin", &T::begin),
      non_default("end", &T::end),           non_default("switch", &T::switches),
      non_default("label", &T::labels),      non_default("trace_context", &T::trace_contexts)};
};

template <>
struct Object<instrumenter::SyncPlan> {
  using T = instrumenter::SyncPlan;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index),       required("role", &T::role),
                 required("function", &T::function), non_default("object", &T::object),
                 non_default("task", &T::task),      non_default("shared", &T::shared)};

  static void check(T& sync, const Json& /*from*/) {
    const bool is_task = T::is_task(sync.role);
    if (!(is_task ? sync.task : sync.object)) {
      throw ReadError(
          fmt::format("sync {}: {} is missing", sync.index, is_task ? "task" : "object"));
    }
  }
};

template <>
struct Object<instrumenter::Plan> {
  using T = instrumenter::Plan;
  static constexpr auto kFields = std::tuple{optional("all", &T::all),
                                             optional("armed", &T::armed),
                                             optional("cxx_twins_from", &T::cxx_twins_from),
                                             optional("expanded", &T::expanded),
                                             optional("measured", &T::measured),
                                             optional("demoted", &T::demoted),
                                             optional("exclude", &T::exclude),
                                             optional("intervals", &T::intervals),
                                             optional("sync", &T::sync)};

  static void written(const T& /*plan*/, Json& out) { out["schema"] = 1; }
};

}  // namespace vprof::json
