#include "pipeline/html/html_sources.h"

#include <algorithm>
#include <set>

#include "pipeline/annotated.h"
#include "pipeline/source.h"
#include "pipeline/steps.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Function;

constexpr size_t kMostTexts = 40;
constexpr size_t kAround = 6;  // lines before and after a location

/// A text of the page to be.
struct Wanted {
  const Function* function = nullptr;  ///< nullptr: only the lines around the location
  std::string title;
  SourceLocation location;
  std::vector<uint32_t> factors;
};

/// Collects each text once, with the factors that it is for.
class SourceCollector {
 public:
  /// @param program nullptr: there is no index
  SourceCollector(const Session& session, const instrumenter::Program* program,
                  const MeasuredSource& measured)
      : session_(session), program_(program), measured_(measured) {}

  /// @param number of the factor in the profile, from 0
  void add(const analyzer::Factor& factor, uint32_t number) {
    bool any = false;
    for (const std::string& key : factor.keys) {
      if (const Function* f = function_of(key); f != nullptr) {
        add({f, f->name, {.file = f->file, .line = f->line}, {number}});
        any = true;
      }
    }
    const SourceLocation location = location_of(factor);
    if (any || location.line == 0) {
      return;
    }
    const Function* around = function_around(location);
    add({around, around == nullptr ? factor.functions[0] : around->name, location, {number}});
  }

  const std::vector<Wanted>& wanted() const { return wanted_; }
  size_t left_out() const { return left_out_.size(); }

 private:
  static bool is_same(const Wanted& a, const Wanted& b) {
    return a.location.file == b.location.file &&
           (a.function != nullptr ? a.function == b.function : a.location.line == b.location.line);
  }

  /// The function of that key, or after an edit the one of its name and file. nullptr: it has no
  /// definition.
  const Function* function_of(const std::string& key) const {
    if (program_ == nullptr) {
      return nullptr;
    }
    const Function* f = program_->by_key(key);
    if (f == nullptr) {
      const auto of_name = program_->find(key.substr(0, key.rfind(':')));
      f = of_name.size() == 1 ? of_name[0] : nullptr;
    }
    return f == nullptr || f->file.empty() ? nullptr : f;
  }

  void add(const Wanted& text) {
    const auto known =
        std::ranges::find_if(wanted_, [&](const Wanted& one) { return is_same(one, text); });
    if (known != wanted_.end()) {
      known->factors.insert(known->factors.end(), text.factors.begin(), text.factors.end());
    } else if (wanted_.size() < kMostTexts) {
      wanted_.push_back(text);
    } else {
      left_out_.insert(text.title);
    }
  }

  /// The last function of the file that begins at the line or before, if it ends behind it. In a
  /// file that has changed, the line says nothing.
  const Function* function_around(const SourceLocation& location) const {
    const Function* nearest = nullptr;
    if (program_ != nullptr && !measured_.has_changed(location.file)) {
      for (const Function& f : program_->functions) {
        if (f.file == location.file && f.line <= location.line &&
            (nearest == nullptr || f.line > nearest->line)) {
          nearest = &f;
        }
      }
    }
    const bool is_in =
        nearest != nullptr && lines_of_function(session_, *nearest).second >= location.line;
    return is_in ? nearest : nullptr;
  }

  const Session& session_;
  const instrumenter::Program* program_;
  const MeasuredSource& measured_;
  std::vector<Wanted> wanted_;
  std::set<std::string> left_out_;
};

report::AnnotatedFunction lines_around(const Session& session, const Wanted& text,
                                       const MeasuredSource& measured) {
  const std::vector<std::string> lines = lines_of(original_text(session, text.location.file));
  const size_t line = text.location.line;
  const size_t first = line > kAround ? line - kAround : 1;
  report::AnnotatedFunction excerpt;
  excerpt.name = text.title;
  excerpt.file = text.location.file;
  excerpt.changed = source_lines(session, excerpt.file) != lines;
  excerpt.outdated = measured.has_changed(excerpt.file);
  excerpt.first = static_cast<uint32_t>(first);
  for (size_t n = first; n <= std::min(line + kAround, lines.size()); ++n) {
    excerpt.lines.push_back(lines[n - 1]);
  }
  return excerpt;
}

/// With the costs of the functions, if there is a recording.
std::vector<report::SourceText> texts_of(const Session& session, const fs::path& trace,
                                         const std::vector<Wanted>& wanted,
                                         const MeasuredSource& measured, report::HtmlReport& page) {
  std::vector<report::SourceText> texts;
  std::vector<const Function*> functions;
  std::vector<size_t> places;  // of the functions in texts
  for (const Wanted& one : wanted) {
    report::SourceText& text = texts.emplace_back();
    const bool is_definition = one.function != nullptr && one.location.line == one.function->line;
    text.line = is_definition ? 0 : one.location.line;
    text.factors = one.factors;
    if (one.function == nullptr) {
      text.function = lines_around(session, one, measured);
      continue;
    }
    text.function = text_of(session, *one.function, measured);
    functions.push_back(one.function);
    places.push_back(texts.size() - 1);
  }
  if (functions.empty()) {
    return texts;
  }
  analyzer::Options options = session.config.factors;
  options.interval = page.profile.interval.name;
  auto annotated = annotate(session, trace, functions, options);
  if (!annotated) {
    page.notes.push_back(
        fmt::format("The source is without what calls cost: {}", annotated.error().message));
    return texts;
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    texts[places[i]].function = std::move((*annotated)[i]);
    texts[places[i]].costed = true;
  }
  return texts;
}

}  // namespace

void add_sources(const Session& session, int iteration, report::HtmlReport& page) {
  const auto program = load_index(session);
  if (!program) {
    page.notes.push_back(
        fmt::format("The source of functions is not shown: {}", program.error().message));
  }
  auto sites = instrumenter::load_sites(session.workspace.kept_sites(iteration).string());
  const MeasuredSource measured(session, std::move(sites).value_or(instrumenter::SitesFile()));
  SourceCollector sources(session, program ? &*program : nullptr, measured);
  for (uint32_t i = 0; i < page.profile.factors.size(); ++i) {
    sources.add(page.profile.factors[i], i);
  }
  page.sources =
      texts_of(session, session.workspace.trace(iteration), sources.wanted(), measured, page);
  page.sources_left_out = sources.left_out();
}

}  // namespace vprof::driver
