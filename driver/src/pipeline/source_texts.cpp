#include "pipeline/source_texts.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "pipeline/source_excerpt.h"
#include "pipeline/steps.h"

namespace vprof::driver {

namespace {

constexpr size_t kMostTexts = 20;
constexpr size_t kLongest = 80;  // lines of one function
constexpr size_t kAround = 6;    // lines before and behind a place

struct Place {
  std::string file;
  size_t line = 0;
};

/// `file:line`, or nothing.
Place place_of(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return {};
  }
  return {text.substr(0, colon), std::strtoul(text.c_str() + colon + 1, nullptr, 10)};
}

class Texts {
 public:
  Texts(const Session& session, const instrumenter::Program* program)
      : session_(session), program_(program) {}

  void add(const analyzer::Factor& factor, uint32_t number) {
    bool any = false;
    for (size_t i = 0; i < factor.functions.size(); ++i) {
      const instrumenter::Function* f = program_ != nullptr && i < factor.keys.size()
                                            ? program_->by_key(factor.keys[i])
                                            : nullptr;
      any = add(f, number) || any;
    }
    if (any) {
      return;
    }
    const std::string site = factor.instances.empty() ? "" : factor.instances[0].site;
    const Place place = place_of(factor.definition.empty() ? site : factor.definition);
    if (place.line == 0 || add(function_at(place), number)) {
      return;  // body(f) is in f
    }
    add(factor.functions[0], place, place.line > kAround ? place.line - kAround : 1,
        place.line + kAround, number);
  }

  std::vector<report::SourceText> take() { return std::move(texts_); }

 private:
  /// Whether there is such a function with a definition.
  bool add(const instrumenter::Function* f, uint32_t factor) {
    if (f == nullptr || f->file.empty()) {
      return false;
    }
    const auto [first, last] = lines_of_function(session_, *f);
    add(f->name, {f->file, f->line}, first, last, factor);
    return true;
  }

  const instrumenter::Function* function_at(const Place& place) const {
    if (program_ == nullptr) {
      return nullptr;
    }
    for (const instrumenter::Function& f : program_->functions) {
      if (f.line == place.line && f.file == place.file) {
        return &f;
      }
    }
    return nullptr;
  }

  void add(const std::string& title, const Place& place, size_t first, size_t last,
           uint32_t factor) {
    for (report::SourceText& known : texts_) {
      if (known.file != place.file || known.line != place.line) {
        continue;
      }
      known.factors.push_back(factor);
      return;
    }
    const std::vector<std::string> lines = lines_of(place.file);
    last = std::min(last, lines.size());
    if (texts_.size() == kMostTexts || first > last) {
      return;
    }
    report::SourceText text;
    text.title = title;
    text.file = place.file;
    text.first = first;
    text.line = place.line;
    text.factors = {factor};
    const size_t end = std::min(last, first + kLongest - 1);
    for (size_t n = first; n <= end; ++n) {
      text.lines.push_back(lines[n - 1]);
    }
    text.more = last - end;
    texts_.push_back(std::move(text));
  }

  /// Generated sources are in the mirror alone.
  std::vector<std::string> lines_of(const std::string& file) const {
    std::error_code error;
    const fs::path own = session_.config.source / file;
    const std::string text =
        fs::exists(own, error) ? read_file(own).value_or("") : original_text(session_, file);
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line.back() == '\r') {
        line.pop_back();
      }
      lines.push_back(line);
    }
    return lines;
  }

  const Session& session_;
  const instrumenter::Program* program_;
  std::vector<report::SourceText> texts_;
};

}  // namespace

std::vector<report::SourceText> source_texts(const Session& session,
                                             const analyzer::Profile& profile) {
  const auto program = load_index(session);
  Texts texts(session, program ? &*program : nullptr);
  for (uint32_t i = 0; i < profile.factors.size(); ++i) {
    texts.add(profile.factors[i], i);
  }
  return texts.take();
}

}  // namespace vprof::driver
