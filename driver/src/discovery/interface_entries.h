// Proposes what the users of a library call, where the source is no server.
#pragma once

#include "discovery/candidates.h"
#include "discovery/scan/scanned_graph.h"

namespace vprof::driver {

/// Functions that public headers declare, by how much is below them and how often tests, examples
/// and programs call them. Empty if the source is a server, which knows its requests itself.
std::vector<Candidate> interface_entries(const ScannedSource& source, const ScannedGraph& graph);

}  // namespace vprof::driver
