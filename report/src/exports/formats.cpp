#include "exports/formats.h"

namespace vprof::report {

std::span<const ExportFormat> export_formats() { return kExportFormats; }

}  // namespace vprof::report
