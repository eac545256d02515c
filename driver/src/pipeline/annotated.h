// The source of functions with what their calls cost.
#pragma once

#include <map>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "vprof/instrumenter/sites.h"
#include "vprof/report/annotate.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The source that was measured, as a sites.json has it. The source may have been edited since.
class MeasuredSource {
 public:
  MeasuredSource(const Session& session, instrumenter::SitesFile sites)
      : session_(session), sites_(std::move(sites)) {}

  const instrumenter::SitesFile& sites() const { return sites_; }
  /// Whether vprof's copy of the file is no longer what was measured.
  bool has_changed(const std::string& file) const;
  /// What sites.json says about the function, which may be at another line since; nullptr: nothing.
  const instrumenter::SitesFile::FunctionEntry* entry_of(const instrumenter::Function& f) const;

 private:
  const Session& session_;
  instrumenter::SitesFile sites_;
  mutable std::map<std::string, bool> changed_;  // by file
};

/// The text of a function's definition, without costs.
report::AnnotatedFunction text_of(const Session& session, const instrumenter::Function& f,
                                  const MeasuredSource& measured);

/// The same with what the recording in `trace` says, which is read once for all functions. Error:
/// there is none, or nothing in it can be analyzed.
Result<std::vector<report::AnnotatedFunction>> annotate(
    const Session& session, const fs::path& trace,
    const std::vector<const instrumenter::Function*>& functions, const analyzer::Options& options);

}  // namespace vprof::driver
