#include "vprof/support/json.h"

#include "vprof/support/files.h"

namespace vprof {

Result<nlohmann::json> read_json(const fs::path& path) {
  const std::string text = VPROF_TRY(read_file(path));
  auto document = nlohmann::json::parse(std::string_view(text), nullptr, /*allow_exceptions=*/false,
                                        /*ignore_comments=*/true);
  if (document.is_discarded()) {
    return fail("{} is damaged (not JSON); delete it and run the step that writes it again",
                shown(path));
  }
  return document;
}

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const nlohmann::json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace vprof
