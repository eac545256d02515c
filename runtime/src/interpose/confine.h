// The program confines itself: to another root directory, or to fewer system calls.
#ifndef VPROF_CONFINE_H
#define VPROF_CONFINE_H

// Around a system call of the program: what it takes away is prepared for, and then remembered.
void vprof_confine_begin(long number, const long* arguments);
void vprof_confine_end(long number, const long* arguments, long result);

#endif
