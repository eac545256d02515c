// Rows of the table that semantics.cpp describes.
#pragma once

namespace vprof::test {

// `result` is an error number, 0 for none.
void row(const char* what, int result);
// `result` is what the call returned; where that is -1, errno says why.
void row_of_call(const char* what, long result);

// semantics_calls.cpp
void calls();

}  // namespace vprof::test
