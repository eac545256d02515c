#include "trace/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

using Json = nlohmann::json;

/// Larger indices of intervals or sync functions come from a damaged file.
constexpr uint32_t kMaxNamed = 1u << 16;

std::string location_of(const std::string& file, int line) {
  return file.empty() ? std::string() : fmt::format("{}:{}", file, line);
}

/// Names by "index". The list comes from the user's configuration, so it is short.
std::vector<std::string> read_names(const Json& list, const char* field) {
  std::vector<std::string> names;
  for (const Json& entry : list) {
    const auto index = entry.at("index").get<uint32_t>();
    if (index >= kMaxNamed) {
      throw std::out_of_range(fmt::format("index {} is too large", index));
    }
    if (names.size() <= index) {
      names.resize(index + 1);
    }
    names[index] = entry.value(field, std::string());
  }
  return names;
}

Function read_function(const Json& entry) {
  Function function;
  function.name = entry.at("name").get<std::string>();
  function.key = entry.value("key", function.name);
  function.file = entry.value("file", std::string());
  function.line = entry.value("line", 0);
  function.height = entry.value("height", 0);
  function.expandable = entry.value("expandable", false);
  function.expanded = entry.value("expanded", false);
  function.wrapper = entry.value("wrapper", false);
  return function;
}

std::string suspension_name(const Json& entry) {
  return entry.value("yields", false)
             ? "co_yield"
             : fmt::format("co_await({})", entry.value("name", std::string()));
}

/// Numbers sites of one function at the same location, as macros make them.
void number_duplicates(std::vector<Site>& sites) {
  std::map<std::pair<uint32_t, std::string>, int> seen;
  for (Site& site : sites) {
    if (site.function == kNone) {
      continue;
    }
    const int before = seen[{site.function, site.position}]++;
    if (before != 0) {
      site.position += fmt::format("#{}", before);
    }
  }
}

Sites parse(const Json& document) {
  Sites result;
  result.root_height = document.value("root_height", 0);
  std::unordered_map<uint32_t, uint32_t> index_of;
  const Json none = Json::array();
  for (const Json& entry : document.contains("functions") ? document["functions"] : none) {
    index_of[entry.at("id").get<uint32_t>()] = static_cast<uint32_t>(result.functions.size());
    result.functions.push_back(read_function(entry));
  }
  for (const Json& entry : document.contains("sites") ? document["sites"] : none) {
    const auto id = entry.at("id").get<uint32_t>();
    if (id >= VPROF_MAX_SITES) {
      throw std::out_of_range(fmt::format("site id {} is too large", id));
    }
    if (result.sites.size() <= id) {
      result.sites.resize(id + 1);
    }
    Site& site = result.sites[id];
    site.function = index_of.at(entry.at("function").get<uint32_t>());
    if (entry.value("kind", std::string("function")) == "call") {
      site.parent = index_of.at(entry.at("parent").get<uint32_t>());
    }
    site.location = location_of(entry.value("file", std::string()), entry.value("line", 0));
    site.position = fmt::format("{}:{}", site.location, entry.value("column", 0));
  }
  number_duplicates(result.sites);
  for (const Json& entry : document.contains("suspensions") ? document["suspensions"] : none) {
    const auto index = entry.at("index").get<uint32_t>();
    if (index >= VPROF_MAX_SITES) {
      throw std::out_of_range(fmt::format("suspension {} is too large", index));
    }
    if (result.suspensions.size() <= index) {
      result.suspensions.resize(index + 1);
    }
    SuspensionPoint& point = result.suspensions[index];
    point.name = suspension_name(entry);
    point.parent = index_of.at(entry.at("parent").get<uint32_t>());
    for (const Json& id : entry.contains("awaits") ? entry["awaits"] : none) {
      point.awaits.push_back(index_of.at(id.get<uint32_t>()));
    }
  }
  if (document.contains("intervals")) {
    result.intervals = read_names(document["intervals"], "name");
  }
  if (document.contains("sync")) {
    result.sync = read_names(document["sync"], "function");
    for (const Json& entry : document["sync"]) {
      if (entry.value("shared", false)) {
        result.shared_sync.push_back(entry.at("index"));
      }
    }
  }
  return result;
}

}  // namespace

std::string Sites::sync_name(uint32_t index) const {
  if (index < sync.size() && !sync[index].empty()) {
    return sync[index];
  }
  if (index == VPROF_SYNC_TASK) {
    return "task";
  }
  return fmt::format("sync#{}", index);
}

std::string Sites::interval_name(uint32_t index) const {
  if (index < intervals.size() && !intervals[index].empty()) {
    return intervals[index];
  }
  return index == 0 ? "interval" : fmt::format("interval#{}", index);
}

Result<Sites> read_sites(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail("{}: cannot be read; it is written when the program is instrumented", path);
  }
  try {
    return parse(Json::parse(file));
  } catch (const std::exception& error) {
    return fail("{}: not a valid sites file ({}); instrument again", path, error.what());
  }
}

Result<Sites> read_sites(const std::string& path, const std::string& interval) {
  auto sites = VPROF_TRY(read_sites(path));
  std::vector<std::string> names;
  for (uint32_t i = 0; i < std::max<size_t>(sites.intervals.size(), 1); ++i) {
    names.push_back(sites.interval_name(i));
  }
  // A source that marks its intervals itself may have more of them, which are `interval#N`.
  if (!interval.empty() && !interval.starts_with("interval#") &&
      std::ranges::find(names, interval) == names.end()) {
    return fail("no interval is named '{}'; there are: {}", interval, fmt::join(names, ", "));
  }
  return sites;
}

}  // namespace vprof::analyzer
