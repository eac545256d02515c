#include "text/text_writer.h"

#include <algorithm>

namespace vprof::report {

namespace {
constexpr int kLeastWidth = 40;
}  // namespace

TextWriter::TextWriter(const TextOptions& options)
    : width_(static_cast<size_t>(std::max(options.width, kLeastWidth))),
      color_(options.color),
      ascii_(options.ascii) {}

void TextWriter::line(const std::string& text, Style style) {
  text_ += paint(fit(shown(text), width_, ascii_), style, color_) + "\n";
}

void TextWriter::paragraph(const std::string& text, size_t indent, Style style) {
  text_ += paint(wrap(shown(text), indent, width_), style, color_);
}

void TextWriter::item(const std::string& text, Style style) {
  std::string wrapped = wrap(shown(text), 4, width_);
  if (wrapped.empty()) {
    return;
  }
  wrapped[2] = '-';
  text_ += paint(wrapped, style, color_);
}

void TextWriter::row(const std::vector<std::string>& items, size_t indent,
                     const std::string& between) {
  std::string row;
  for (const std::string& item : items) {
    if (!row.empty() && indent + columns(row) + columns(between) + columns(item) > width_) {
      line(std::string(indent, ' ') + row);
      row.clear();
    }
    row += (row.empty() ? "" : between) + item;
  }
  line(std::string(indent, ' ') + row);
}

}  // namespace vprof::report
