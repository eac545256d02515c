#include <array>
#include <charconv>
#include <optional>

#include "workloads/workload.h"

namespace lab {

namespace {

constexpr std::array<std::string_view, 8> kNames{
    "tpcc-WAREHOUSES", "htap-WAREHOUSES",    "seats", "tatp", "epinions", "ycsb",
    "micro",           "micro-THETA-UPDATES"};

std::optional<int> number_after(std::string_view text, std::string_view prefix) {
  int number = 0;
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, number);
  return error == std::errc() && rest == end && number > 0 ? std::optional(number) : std::nullopt;
}

// micro-80-60: theta 0.8, 60 % updates.
std::unique_ptr<Workload> parse_microbenchmark(std::string_view name) {
  const size_t dash = name.rfind('-');
  const auto theta = number_after(name.substr(0, dash), "micro-");
  const auto updates = number_after(name.substr(dash), "-");
  if (!theta || !updates || *updates > 100) {
    return nullptr;
  }
  return make_microbenchmark(*theta / 100.0, *updates / 100.0);
}

}  // namespace

std::unique_ptr<Workload> make_workload(std::string_view name) {
  if (const auto warehouses = number_after(name, "tpcc-")) {
    return make_tpcc(*warehouses, false);
  }
  if (const auto warehouses = number_after(name, "htap-")) {
    return make_tpcc(*warehouses, true);
  }
  if (name == "seats") {
    return make_seats();
  }
  if (name == "tatp") {
    return make_tatp();
  }
  if (name == "epinions") {
    return make_epinions();
  }
  if (name == "ycsb") {
    return make_ycsb();
  }
  if (name == "micro") {
    return make_microbenchmark(0.8, 0.6);
  }
  return name.starts_with("micro-") ? parse_microbenchmark(name) : nullptr;
}

std::span<const std::string_view> workload_names() { return kNames; }

}  // namespace lab
