// Recordings as Parquet tables (docs/tables.md).
#pragma once

#include <csignal>
#include <string>

#include "vprof/analyzer/analyzer.h"
#include "vprof/tables/privacy.h"

namespace vprof::tables {

struct TablesRequest {
  std::string trace_dir;
  std::string sites_json;
  std::string out;  ///< directory of the tables, made if it is missing
  analyzer::Options analysis;
  std::string host;
  std::string program;   ///< empty: the name of the executable
  std::string version;   ///< of the program
  std::string vprof;     ///< version of vprof
  bool rollups = false;  ///< without `intervals` and `times`
  Privacy privacy;
  /// If set, the export ends when it is not 0, and leaves nothing.
  const volatile std::sig_atomic_t* stopped = nullptr;
};

/// Adds a recording to the tables, in place of an earlier export of the same. Returns what it
/// wrote, for the user. Error: one line; the tables are then as they were, or without this
/// recording if its files could not be moved to their places.
Result<std::string> write_tables(const TablesRequest& request);

}  // namespace vprof::tables
