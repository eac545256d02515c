// The sites' bytes in modules that are compiled with -fPIC (record.h).
//
// Problem. Such code would reach vprof_site_on, which belongs to another module, only by a load
// from the global offset table and a register, in every function with a site. So each of these
// modules (executables and shared libraries) has a table of its own, and the constructors of its
// objects add it here. In a live run the control file is mapped over all tables; else what switches
// a site stores to all.
//
// A library takes its table away when it is unloaded, at any moment. So whoever works on a table
// borrows it, and a library that is loaded or unloaded waits until it is back. Nobody else waits:
// signal handlers may come here, too, and one finds a table borrowed only if it has interrupted the
// borrower, or beside another thread that does the same.
#ifndef VPROF_MODULE_TABLES_H
#define VPROF_MODULE_TABLES_H

// Calls `work` with each table. Any thread, also in a signal handler.
void vprof_module_tables_each(void (*work)(unsigned char* table, const void* argument),
                              const void* argument);

// For that: the table gets what vprof_site_on has. Pages in which nothing is on stay untouched, so
// they take no memory.
void vprof_module_table_copy(unsigned char* table, const void* unused);

// The sites are settled: tables that were added before get what vprof_site_on has. Constructor
// only.
void vprof_module_tables_start(void);

// In a child of fork: threads that had borrowed a table do not exist.
void vprof_module_tables_forked(void);

#endif
