/* Which programs are compilers, by their names. In C, because the interposer of exec is. */
#ifndef VPROF_SHIM_COMPILER_NAME_H
#define VPROF_SHIM_COMPILER_NAME_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A launcher of compilers, such as ccache. */
bool vprof_is_launcher_name(const char* name);

/* A C or C++ compiler for this machine, or a launcher of compilers. `machine`: as `uname -m` says
 * it. */
bool vprof_is_compiler_name(const char* name, const char* machine);

#ifdef __cplusplus
}
#endif

#endif
