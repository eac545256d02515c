#include "pipeline/html/html_sources.h"

#include <algorithm>

#include "pipeline/source.h"
#include "pipeline/steps.h"

namespace vprof::driver {

namespace {

constexpr size_t kMostTexts = 20;
constexpr size_t kLongest = 80;  // lines of one function
constexpr size_t kAround = 6;    // lines before and after a location

/// Collects each text once, with the factors that it is for.
class SourceCollector {
 public:
  /// @param program nullptr: there is no index
  SourceCollector(const Session& session, const instrumenter::Program* program)
      : session_(session), program_(program) {}

  /// @param number of the factor in the profile, from 0
  void add(const analyzer::Factor& factor, uint32_t number) {
    bool any = false;
    for (const std::string& key : factor.keys) {
      const instrumenter::Function* f = program_ == nullptr ? nullptr : program_->by_key(key);
      any = add(f, number) || any;
    }
    if (any) {
      return;
    }
    const SourceLocation location = location_of(factor);
    if (location.line == 0 || add(function_at(location), number)) {
      return;  // function_at(): body(f) is in f
    }
    add(factor.functions[0], location, location.line > kAround ? location.line - kAround : 1,
        location.line + kAround, number);
  }

  std::vector<report::SourceText> take() { return std::move(texts_); }

 private:
  /// Whether there is such a function with a definition.
  bool add(const instrumenter::Function* f, uint32_t factor) {
    if (f == nullptr || f->file.empty()) {
      return false;
    }
    const auto [first, last] = lines_of_function(session_, *f);
    add(f->name, {.file = f->file, .line = f->line}, first, last, factor);
    return true;
  }

  const instrumenter::Function* function_at(const SourceLocation& location) const {
    if (program_ == nullptr) {
      return nullptr;
    }
    const auto found = std::ranges::find_if(program_->functions, [&](const auto& f) {
      return f.line == location.line && f.file == location.file;
    });
    return found == program_->functions.end() ? nullptr : &*found;
  }

  void add(const std::string& title, const SourceLocation& location, size_t first, size_t last,
           uint32_t factor) {
    const auto known = std::ranges::find_if(texts_, [&](const report::SourceText& text) {
      return text.file == location.file && text.line == location.line;
    });
    if (known != texts_.end()) {
      known->factors.push_back(factor);
      return;
    }
    const std::vector<std::string> lines = source_lines(session_, location.file);
    last = std::min(last, lines.size());
    if (texts_.size() == kMostTexts || first > last) {
      return;
    }
    const size_t end = std::min(last, first + kLongest - 1);
    report::SourceText text;
    text.title = title;
    text.file = location.file;
    text.first = first;
    text.line = location.line;
    text.factors = {factor};
    text.lines.assign(lines.begin() + static_cast<long>(first) - 1,
                      lines.begin() + static_cast<long>(end));
    text.more = last - end;
    texts_.push_back(std::move(text));
  }

  const Session& session_;
  const instrumenter::Program* program_;
  std::vector<report::SourceText> texts_;
};

}  // namespace

std::vector<report::SourceText> html_sources(const Session& session,
                                             const analyzer::Profile& profile) {
  const auto program = load_index(session);
  SourceCollector sources(session, program ? &*program : nullptr);
  for (uint32_t i = 0; i < profile.factors.size(); ++i) {
    sources.add(profile.factors[i], i);
  }
  return sources.take();
}

}  // namespace vprof::driver
