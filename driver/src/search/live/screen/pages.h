// The pages of the screen of `vprof live`: one factor, its source, the variance tree, the timeline
// of a slow interval.
#pragma once

#include <functional>
#include <string>

#include "search/live/screen/keys.h"
#include "search/live/screen/onlooker.h"
#include "vprof/instrumenter/program.h"
#include "vprof/report/report.h"
#include "workspace/session.h"

namespace vprof::driver {

/// A page whose text depends on the width of the terminal.
struct PageText {
  std::string title;
  std::function<std::string(const report::TextOptions&)> text;
};

struct PageRequest {
  Page page = Page::kHelp;
  std::string factor;  ///< factor_id()
  size_t nth = 0;      ///< of kSlowOne: which of the slow intervals
};

/// May read the recording, which takes a while: any thread may call it. What cannot be shown is a
/// page that says why.
PageText make_page(const PageRequest& request, const Measured& measured, const Session& session,
                   const instrumenter::Program& program);

}  // namespace vprof::driver
