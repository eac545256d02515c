#pragma once

#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

/// Adds notes for people on what a process did not record, or did not keep, according to the header
/// of its trace.
void note_losses(const vprof_file_header& header, Losses& losses);

}  // namespace vprof::analyzer
