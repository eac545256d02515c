// Which sites are on: one byte each in vprof_site_on (record.h).
#ifndef VPROF_SITES_H
#define VPROF_SITES_H

// VPROF_SITES: NULL, "" or "on" switches all sites on, "12,20-29" only these. Constructor only.
void vprof_sites_select(const char* list);

// Switches every site on or off, byte by byte: a thread that runs meanwhile may see some of each.
// Any thread, also in a signal handler.
void vprof_all_sites(int on);

#endif
