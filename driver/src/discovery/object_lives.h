// Proposes the lives of objects: `stream_new` ... `stream_free`.
#pragma once

#include "discovery/candidates.h"
#include "discovery/scan/scanned_graph.h"

namespace vprof::driver {

/// Pairs of functions of which one makes and the other ends an object that a request has, by their
/// names and types.
std::vector<Candidate> object_lives(const ScannedGraph& graph);

}  // namespace vprof::driver
