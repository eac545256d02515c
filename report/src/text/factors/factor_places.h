// Where a factor is found: its largest place, and the other calls of it.
#pragma once

#include "text/text_writer.h"

namespace vprof::report {

/// `request > process_order  at src/worker.cpp:77`. The path is shortened for the place.
void write_largest_place(const analyzer::Factor& factor, size_t indent, TextWriter& out);

/// `a.c:12 (11.0 %) and b.c:30 (3.2 %)`: calls of the function, or uses of the macro, besides that
/// in the largest place. Empty: there are none.
std::string other_calls(const analyzer::Factor& factor);

}  // namespace vprof::report
