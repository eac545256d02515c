#include "vprof/report/html.h"

#include "html/html_page.h"

namespace vprof::report {
namespace {

constexpr std::string_view kMark = "/*data*/";

}  // namespace

bool has_html_page() { return !html_page().empty(); }

std::string json_for_script(const nlohmann::json& document) {
  const std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest(text.data() + i, text.size() - i);
    if (text[i] == '<') {
      safe += "\\u003c";  // </script>, <!--
    } else if (text[i] == '>') {
      safe += "\\u003e";
    } else if (text[i] == '&') {
      safe += "\\u0026";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      safe += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";  // line ends in older JavaScript
      i += 2;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

Result<std::string> html(const HtmlReport& page) {
  const std::string_view empty_page = html_page();
  const size_t mark = empty_page.find(kMark);
  if (mark == std::string_view::npos) {
    return fail(
        "this vprof was built without the HTML report; install nodejs and npm, and build it again");
  }
  std::string text(empty_page.substr(0, mark));
  text += json_for_script(html_data(page));
  text += empty_page.substr(mark + kMark.size());
  return text;
}

}  // namespace vprof::report
