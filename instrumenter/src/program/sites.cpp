#include "vprof/instrumenter/sites.h"

#include "program/plan_json.h"
#include "program/program_json.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"

namespace vprof::json {

using instrumenter::SitesFile;

template <>
struct Words<instrumenter::SiteKind> {
  static constexpr std::array kWords = {"function", "call"};
};

template <>
struct Object<SitesFile::FunctionEntry> {
  using T = SitesFile::FunctionEntry;
  static constexpr auto kFields = std::tuple{required("id", &T::id),
                                             required("key", &T::key),
                                             required("name", &T::name),
                                             required("file", &T::file),
                                             required("line", &T::line),
                                             required("height", &T::height),
                                             required("callees", &T::callees),
                                             required("expandable", &T::expandable),
                                             required("expanded", &T::expanded),
                                             non_default("wrapper", &T::wrapper)};
};

template <>
struct Object<SitesFile::SiteEntry> {
  using T = SitesFile::SiteEntry;
  static constexpr auto kFields = std::tuple{required("id", &T::id),
                                             required("kind", &T::kind),
                                             required("function", &T::function),
                                             non_default("parent", &T::parent),
                                             required("file", &T::file),
                                             required("line", &T::line),
                                             required("column", &T::column),
                                             required("rule", &T::rule),
                                             non_default("call", &T::call),
                                             non_default("gate", &T::gate)};
};

template <>
struct Object<SitesFile::SuspensionEntry> {
  using T = SitesFile::SuspensionEntry;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index),      required("name", &T::name),
                 non_default("yields", &T::yields), required("parent", &T::parent),
                 required("file", &T::file),        required("line", &T::line),
                 non_default("awaits", &T::awaits)};
};

template <>
struct Object<SitesFile::UnwrappedEntry> {
  using T = SitesFile::UnwrappedEntry;
  static constexpr auto kFields =
      std::tuple{required("parent", &T::parent),  required("callee", &T::callee),
                 required("file", &T::file),      required("line", &T::line),
                 required("column", &T::column),  required("reason", &T::reason),
                 required("by_rule", &T::by_rule)};
};

template <>
struct Object<SitesFile::GateEntry> {
  using T = SitesFile::GateEntry;
  static constexpr auto kFields = std::tuple{required("id", &T::id), required("open", &T::open)};
};

template <>
struct Object<SitesFile::IntervalEntry> {
  using T = SitesFile::IntervalEntry;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index), required("name", &T::name)};
};

template <>
struct Object<SitesFile::SyncEntry> {
  using T = SitesFile::SyncEntry;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index), required("role", &T::role),
                 required("function", &T::function), non_default("shared", &T::shared)};
};

template <>
struct Object<SitesFile> {
  using T = SitesFile;
  static constexpr auto kFields = std::tuple{required("schema", &T::schema),
                                             required("root_height", &T::root_height),
                                             required("functions", &T::functions),
                                             required("sites", &T::sites),
                                             required("intervals", &T::intervals),
                                             required("sync", &T::sync),
                                             non_default("suspensions", &T::suspensions),
                                             required("unwrapped", &T::unwrapped),
                                             non_default("gates", &T::gates),
                                             non_default("event_gates", &T::event_gates),
                                             required("site_ids", &T::site_ids),
                                             optional("files", &T::files)};
};

}  // namespace vprof::json

namespace vprof::instrumenter {

Result<SitesFile> load_sites(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  auto sites = json::read<SitesFile>(parse_json(text));
  if (!sites) {
    return fail("{}: {}", path, sites.error().message);
  }
  return sites;
}

Result<void> save_sites(const SitesFile& sites, const std::string& path) {
  return write_file_atomic(path, json_text(json::write(sites)));
}

SiteIds load_site_ids(const std::string& path) {
  const Result<std::string> text = read_file(path);
  const json::Json document = text ? parse_json(*text) : json::Json::object();
  const auto known = document.find("site_ids");
  return known == document.end() ? SiteIds{} : json::read<SiteIds>(*known).value_or(SiteIds{});
}

}  // namespace vprof::instrumenter
