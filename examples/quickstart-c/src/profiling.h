/* The annotations if VProfiler is installed; otherwise nothing. */
#ifndef PROFILING_H
#define PROFILING_H

#ifdef __has_include
#if __has_include(<vprof/annotations.h>)
#include <vprof/annotations.h>
#define HAVE_VPROF_ANNOTATIONS
#endif
#endif

#ifndef HAVE_VPROF_ANNOTATIONS
#define vprof_begin(id) ((void)(id))
#define vprof_end(id) ((void)(id))
#define vprof_switch(id) ((void)(id))
#define vprof_label(id, text) ((void)(id), (void)(text))
#endif

#endif
