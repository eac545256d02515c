// Recordings as Parquet tables (docs/tables.md), by vprof-tables.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// What the verbs that write tables are asked for.
struct TableOptions {
  std::string out;              ///< directory of the tables; empty: none are wanted
  bool rollups = false;         ///< without single intervals
  std::string host;             ///< empty: where the recording was made
  std::string program_version;  ///< empty: that of the recording's provenance
  std::vector<std::string> hash, leave_out;
  std::string salt_file;
};

/// A recording of which a part may be wanted.
struct TableSource {
  fs::path trace, sites_json;
  analyzer::Options analysis;
};

/// Error: one line, also if this vprof was built without Apache Arrow, or the options are wrong.
Result<void> check_tables(const TableOptions& options);

/// Adds a recording to the tables. Returns what was written, for the user. Errors as for
/// ask_helper(); the tables are then as they were.
Result<std::string> write_tables(const TableSource& source, const TableOptions& options,
                                 bool stoppable);

}  // namespace vprof::driver
