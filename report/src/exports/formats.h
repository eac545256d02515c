// The formats of `vprof export`. To add one, write its function in a file of its own and add it to
// both lists here.
#pragma once

#include <array>

#include "vprof/report/exports.h"

namespace vprof::report {

/// Each writes `file` as a whole and returns what it wrote, for the user. Error: one line.
Result<std::string> write_perfetto(ExportSource& source, const std::string& file);
Result<std::string> write_csv(ExportSource& source, const std::string& file);
Result<std::string> write_sqlite(ExportSource& source, const std::string& file);
Result<std::string> write_folded(ExportSource& source, const std::string& file);
Result<std::string> write_otlp(ExportSource& source, const std::string& file);

inline constexpr std::array kExportFormats = {
    ExportFormat{"perfetto", "the slowest and some typical ones, for ui.perfetto.dev",
                 write_perfetto},
    ExportFormat{"csv", "all, with the time of each place, as a table", write_csv},
    ExportFormat{"sqlite", "the same as a database", write_sqlite},
    ExportFormat{"folded", "shares of the variance, for flame-graph tools", write_folded},
    ExportFormat{"otlp", "the same ones as for perfetto, as spans for OpenTelemetry", write_otlp},
};

}  // namespace vprof::report
