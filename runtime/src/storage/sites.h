// Which sites are on: one byte each in vprof_site_on (record.h).
#ifndef VPROF_SITES_H
#define VPROF_SITES_H

// VPROF_SITES: NULL, "" or "on" switches all sites on, "12,20-29" only these. Constructor only.
void vprof_sites_select(const char* list);

// Switches every site off, in this process only: it can record nothing. A thread that runs
// meanwhile may see some on. Any thread, also in a signal handler.
void vprof_sites_give_up(void);

#endif
