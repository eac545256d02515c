// A text for a terminal, line by line.
#pragma once

#include <string>
#include <vector>

#include "text/layout.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// Keeps every line within the width of the terminal, but assumes at least 40 columns.
class TextWriter {
 public:
  explicit TextWriter(const TextOptions& options);

  size_t width() const { return width_; }
  /// Whether the terminal has nothing but ASCII. The writer sees to that by itself, but what is
  /// padded or cut before must know.
  bool ascii() const { return ascii_; }
  const char* times() const { return ascii_ ? "x" : "×"; }
  const char* plus_minus() const { return ascii_ ? "+-" : "±"; }

  /// One line; what does not fit is cut.
  void line(const std::string& text, Style style = Style::kPlain);
  /// Several lines, broken at spaces.
  void paragraph(const std::string& text, size_t indent = 0, Style style = Style::kPlain);
  /// A list item with a dash.
  void item(const std::string& text, Style style);
  /// Items side by side, as many as fit on a line; an item is never broken.
  void row(const std::vector<std::string>& items, size_t indent, const std::string& between);
  void blank_line() { text_ += "\n"; }

  /// The text so far; the writer is empty afterwards.
  std::string take() { return std::move(text_); }

 private:
  std::string shown(const std::string& text) const { return ascii_ ? to_ascii(text) : text; }

  const size_t width_;
  const bool color_;
  const bool ascii_;
  std::string text_;
};

}  // namespace vprof::report
