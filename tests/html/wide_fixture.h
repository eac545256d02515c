// A report of the size of a large server's: a variance tree of 80,000 nodes, and 5,000 factors.
#pragma once

#include "vprof/report/html.h"

/// Made of random numbers, always the same. Nodes add up as those of an analysis do.
vprof::report::HtmlReport wide_report();
