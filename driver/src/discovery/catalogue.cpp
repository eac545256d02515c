#include "discovery/catalogue.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

// Fewer functions may be found in any program.
constexpr size_t kEvidentFunctions = 3;

void add_functions(const nlohmann::json& value, std::set<std::string>& into) {
  if (value.is_object() && value.contains("function") && value["function"].is_string()) {
    into.insert(value["function"].get<std::string>());
  }
  if (value.is_structured()) {
    for (const auto& inner : value) {
      add_functions(inner, into);
    }
  }
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Reads `// name, other name: summary`.
bool read_heading(const std::string& text, CatalogueEntry& entry) {
  const std::string line = text.substr(0, text.find('\n'));
  const size_t colon = line.find(": ");
  if (!line.starts_with("// ") || colon == std::string::npos) {
    return false;
  }
  for (size_t begin = 3; begin < colon;) {
    const size_t end = std::min(line.find(',', begin), colon);
    entry.names.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  entry.summary = line.substr(colon + 2);
  return true;
}

Result<CatalogueEntry> read_entry(const fs::path& file) {
  CatalogueEntry entry;
  entry.text = VPROF_TRY(read_file(file));
  const auto document = read_json(file);
  if (!document || !read_heading(entry.text, entry)) {
    return fail(
        "{} is not an entry of the catalogue: it must be JSON with a first line \"// name: what an "
        "interval is\"; correct or remove it",
        file.string());
  }
  std::set<std::string> functions;
  add_functions(*document, functions);
  entry.functions.assign(functions.begin(), functions.end());
  return entry;
}

/// `StartTransaction` of `StartTransaction@src/backend/xact.c:1`.
std::string without_place(const std::string& name) { return name.substr(0, name.find('@')); }

/// The scanner knows no destructors. A class that defines one and is named in an entry has a
/// constructor, too.
bool has(const ScannedSource& source, std::string name) {
  std::erase(name, '~');
  return std::any_of(source.functions.begin(), source.functions.end(),
                     [&name](const auto& f) { return may_mean(name, f) && !is_auxiliary(f.file); });
}

}  // namespace

Result<std::vector<CatalogueEntry>> load_catalogue(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<CatalogueEntry> catalogue;
  catalogue.reserve(files.size());
  for (const fs::path& file : files) {
    catalogue.push_back(VPROF_TRY(read_entry(file)));
  }
  return catalogue;
}

std::vector<std::string> described(const std::vector<CatalogueEntry>& catalogue) {
  std::vector<std::string> names;
  names.reserve(catalogue.size());
  size_t width = 0;
  for (const CatalogueEntry& entry : catalogue) {
    names.push_back(fmt::format("{}", fmt::join(entry.names, ", ")));
    width = std::max(width, names.back().size());
  }
  std::vector<std::string> lines;
  lines.reserve(catalogue.size());
  for (size_t i = 0; i < catalogue.size(); ++i) {
    lines.push_back(fmt::format("{:<{}}  {}", names[i], width, catalogue[i].summary));
  }
  return lines;
}

Result<CatalogueEntry> find_entry(const std::vector<CatalogueEntry>& catalogue,
                                  const std::string& name) {
  std::vector<std::string> all;
  for (const CatalogueEntry& entry : catalogue) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end()) {
      return entry;
    }
    all.push_back(entry.names[0]);
  }
  if (all.empty()) {
    return fail("the catalogue is missing; install vprof again, or set VPROF_HOME to its prefix");
  }
  const std::string near = nearest(name, all);
  return fail("there is no {} in the catalogue; {}choose one of {}", name,
              near.empty() ? "" : fmt::format("did you mean {}? Otherwise ", near),
              fmt::join(all, ", "));
}

std::vector<std::string> missing_functions(const CatalogueEntry& entry,
                                           const ScannedSource& source) {
  std::vector<std::string> missing;
  for (const std::string& function : entry.functions) {
    if (!has(source, function)) {
      missing.push_back(without_place(function));
    }
  }
  return missing;
}

const CatalogueEntry* entry_of(const std::vector<CatalogueEntry>& catalogue,
                               const ScannedSource& source) {
  const CatalogueEntry* found = nullptr;
  for (const CatalogueEntry& entry : catalogue) {
    if (entry.functions.size() < kEvidentFunctions || !missing_functions(entry, source).empty()) {
      continue;
    }
    if (found != nullptr) {
      return nullptr;
    }
    found = &entry;
  }
  return found;
}

std::string with_member(const CatalogueEntry& entry, const std::string& member) {
  const size_t open = entry.text.find("\n{\n");
  return open == std::string::npos
             ? entry.text
             : entry.text.substr(0, open + 3) + member + entry.text.substr(open + 3);
}

}  // namespace vprof::driver
