#include "vprof/instrumenter/changed_files.h"

#include <filesystem>

#include "vprof/support/files.h"
#include "vprof/support/json.h"
#include "vprof/support/json_fields.h"

namespace vprof::instrumenter {

Result<std::set<std::string>> load_changed_files(const std::string& list) {
  std::error_code error;
  if (!std::filesystem::exists(list, error)) {
    return std::set<std::string>();
  }
  const auto text = VPROF_TRY(read_file(list));
  auto files = json::read<std::set<std::string>>(parse_json(text));
  if (!files) {
    return fail("{}: damaged ({}); remove .vprof and start again", list, files.error().message);
  }
  return *std::move(files);
}

Result<void> add_changed_files(const std::string& list, std::set<std::string> files) {
  if (files.empty()) {
    return {};
  }
  files.merge(VPROF_TRY(load_changed_files(list)));
  return write_file_with_parents(list, json::write(files).dump(1));
}

}  // namespace vprof::instrumenter
