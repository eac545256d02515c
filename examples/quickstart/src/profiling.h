// The annotations if VProfiler is installed; otherwise nothing.
#pragma once

#if __has_include(<vprof/annotations.h>)
#include <vprof/annotations.h>
#else
#define vprof_begin(id) ((void)(id))
#define vprof_end(id) ((void)(id))
#define vprof_switch(id) ((void)(id))
#define vprof_label(id, text) ((void)(id), (void)(text))
#endif
