#include "index/unrepeatable_text.h"

namespace vprof::instrumenter {

class UnrepeatableText::Watcher : public clang::PPCallbacks {
 public:
  Watcher(UnrepeatableText& out, const clang::SourceManager& sources)
      : out_(out), sources_(sources) {}

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& macro,
                    clang::SourceRange, const clang::MacroArgs*) override {
    if (macro.getMacroInfo()->isBuiltinMacro() && name.getIdentifierInfo()->isStr("__COUNTER__")) {
      note(name.getLocation());
    }
  }

  void PragmaDirective(clang::SourceLocation place, clang::PragmaIntroducerKind kind) override {
    if (kind == clang::PIK__Pragma) {
      note(place);
    }
  }

  void MacroDefined(const clang::Token& name, const clang::MacroDirective*) override {
    const clang::IdentifierInfo& word = *name.getIdentifierInfo();
    out_.redefines_if_ = out_.redefines_if_ || word.isStr("if") || word.isStr("else");
  }

 private:
  void note(clang::SourceLocation place) {
    const auto [file, offset] = sources_.getDecomposedLoc(sources_.getExpansionLoc(place));
    out_.places_[file].insert(offset);
  }

  UnrepeatableText& out_;
  const clang::SourceManager& sources_;
};

void UnrepeatableText::watch(clang::Preprocessor& preprocessor) {
  preprocessor.addPPCallbacks(std::make_unique<Watcher>(*this, preprocessor.getSourceManager()));
}

bool UnrepeatableText::is_within(clang::FileID file, unsigned begin, unsigned end) const {
  const auto found = places_.find(file);
  if (redefines_if_ || found == places_.end()) {
    return redefines_if_;
  }
  const auto first = found->second.lower_bound(begin);
  return first != found->second.end() && *first < end;
}

}  // namespace vprof::instrumenter
