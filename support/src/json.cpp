#include "vprof/support/json.h"

#include "vprof/support/files.h"

namespace vprof {

Result<nlohmann::json> read_json(const fs::path& path) {
  const std::string text = VPROF_TRY(read_file(path));
  auto document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                        /*ignore_comments=*/true);
  if (document.is_discarded()) {
    return fail("{} is damaged (not JSON); delete it and run the step that writes it again",
                shown(path));
  }
  return document;
}

std::string json_text(const nlohmann::json& document) {
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vprof
