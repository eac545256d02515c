# Builds libvprof and the subject for AArch64, and runs tests of records and waits with them under
# qemu-user.
#
#   CC, CXX    the cross compilers       SOURCE     the repository
#   QEMU       qemu-aarch64              DIRECTORY  to build in
#   SYSROOT    the libraries for it      TESTS      test_runtime
file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
file(GLOB_RECURSE runtime ${SOURCE}/runtime/src/*.c)
list(FILTER runtime EXCLUDE REGEX /stub/)  # another library, for programs that are linked statically
file(GLOB subject ${SOURCE}/tests/runtime/subjects/*.cpp)
set(includes -I${SOURCE}/runtime/src -I${SOURCE}/runtime/include -I${SOURCE}/annotations/include)
execute_process(COMMAND ${CC} -O2 -std=gnu11 -shared -fPIC -fvisibility=hidden -fexceptions
                        -Wall -Wextra -Wshadow -Werror ${includes} ${runtime} -Wl,-z,now -Wl,-z,defs
                        -Wl,-soname,libvprof.so.0 -o ${DIRECTORY}/libvprof.so.0
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CC} -O2 -shared -fPIC ${SOURCE}/tests/runtime/gate.c
                        -Wl,-soname,libruntime_gate.so -o ${DIRECTORY}/libruntime_gate.so COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CXX} -O1 -std=c++20 -DVPROF_TEST_PLUGIN="" ${includes} ${subject}
                        ${DIRECTORY}/libvprof.so.0 ${DIRECTORY}/libruntime_gate.so -Wl,-rpath,${DIRECTORY} -o ${DIRECTORY}/subject
                COMMAND_ERROR_IS_FATAL ANY)
set(ENV{VPROF_TEST_EMULATOR} ${QEMU})
set(ENV{VPROF_TEST_SYSROOT} ${SYSROOT})
set(ENV{VPROF_TEST_FOREIGN_SUBJECT} ${DIRECTORY}/subject)
execute_process(COMMAND ${TESTS} "frames are complete and nested,threads that record a lot*,\
instrumented code in late*,longjmp past*,\
events of several slots*,a site that an exception*,under heavy contention no*,each class of waits*"
                COMMAND_ERROR_IS_FATAL ANY)
