// Where a factor is found: its largest place, other large ones, and the other calls of it.
#pragma once

#include "text/text_writer.h"

namespace vprof::report {

/// `request > process_order  at src/worker.cpp:77`: the largest place. Then, of a wait, a body or a
/// queue, which have no calls, a line for each other place with a large share, `39.5 % in request >
/// evict > wait(sleep)`. Paths are shortened for the width. Returns the number of these lines.
size_t write_places(const analyzer::Factor& factor, size_t indent, TextWriter& out);

/// `a.c:12 (11.0 %) and b.c:30 (3.2 %)`: calls of the function, or uses of the macro, besides that
/// in the largest place. Empty: there are none.
std::string other_calls(const analyzer::Factor& factor);

}  // namespace vprof::report
