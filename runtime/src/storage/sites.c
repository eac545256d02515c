#include "storage/sites.h"

#include <stdlib.h>
#include <string.h>

#include "storage/frontier.h"
#include "storage/module_tables.h"
#include "storage/trace.h"
#include "vprof/runtime/record.h"
#include "vprof/runtime/trace_format.h"

// At the start of a page, so that the control file of a live run can be mapped over it. A copy in
// the executable is placed as well as this one.
VPROF_RT_DATA unsigned char vprof_site_on[VPROF_RT_SITES]
    __attribute__((aligned(VPROF_PAGE_BYTES)));
VPROF_RT_DATA unsigned char vprof_no_counter;
VPROF_RT_DATA unsigned char vprof_armed;
_Static_assert(VPROF_RT_SITES == VPROF_MAX_SITES, "the table has a byte for every site");

struct vprof_change {
  unsigned id;
  unsigned char on;
};

static void set(unsigned char* table, const void* argument) {
  const struct vprof_change* change = argument;
  __atomic_store_n(&table[change->id], change->on, __ATOMIC_RELAXED);
}

void vprof_rt_set_site(unsigned id, int on) {
  if (id == 0 || id >= VPROF_RT_SITES) {
    return;
  }
  const struct vprof_change change = {id, on != 0 && vprof_wanted() ? 1 : 0};
  set(vprof_site_on, &change);
  if (!vprof_live()) {
    vprof_module_tables_each(set, &change);
  }
}

void vprof_sites_give_up(void) {
  if (vprof_live()) {
    vprof_frontier_leave();
  } else {
    memset(vprof_site_on + 1, 0, VPROF_RT_SITES - 1);
    vprof_module_tables_each(vprof_module_table_copy, NULL);
  }
}

// Anything but a number ends the list, so that a mistake records too little rather than too much.
static void select_listed(const char* list) {
  while (*list >= '0' && *list <= '9') {
    char* end = NULL;
    unsigned long first = strtoul(list, &end, 10);
    unsigned long last = first;
    if (*end == '-') {
      last = strtoul(end + 1, &end, 10);
    }
    for (unsigned long id = first; id <= last && id < VPROF_RT_SITES; ++id) {
      if (id != 0) {
        vprof_site_on[id] = 1;
      }
    }
    list = *end == ',' ? end + 1 : end;
  }
}

void vprof_sites_select(const char* list) {
  if (list == NULL || list[0] == 0 || strcmp(list, "on") == 0) {
    memset(vprof_site_on + 1, 1, VPROF_RT_SITES - 1);
  } else {
    select_listed(list);
  }
}
