#define _GNU_SOURCE
#include "storage/module_tables.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/settings.h"
#include "storage/frontier.h"
#include "storage/trace.h"
#include "vprof/runtime/record.h"

enum { kTables = 1024, kBorrowed = 1 };

// Addresses of tables, which are even; 0: free.
static atomic_uintptr_t tables[kTables];
static atomic_int used;      // only these may not be free
static atomic_uint changes;  // grows before the tables are worked on
static bool started;         // constant after the constructor

static bool borrow(atomic_uintptr_t* entry, uintptr_t table) {
  return table != 0 && (table & kBorrowed) == 0 &&
         atomic_compare_exchange_strong(entry, &table, table | kBorrowed);
}

static void give_back(atomic_uintptr_t* entry) { atomic_fetch_and(entry, ~(uintptr_t)kBorrowed); }

static atomic_uintptr_t* entry_of(const unsigned char* table) {
  for (int i = atomic_load(&used); i-- > 0;) {  // the newest first: its objects are being added
    if ((atomic_load(&tables[i]) & ~(uintptr_t)kBorrowed) == (uintptr_t)table) {
      return &tables[i];
    }
  }
  return NULL;
}

static atomic_uintptr_t* free_entry_for(unsigned char* table) {
  for (int i = 0; i < kTables; ++i) {
    uintptr_t expected = 0;
    if (atomic_compare_exchange_strong(&tables[i], &expected, (uintptr_t)table)) {
      int before = atomic_load(&used);
      while (before <= i && !atomic_compare_exchange_weak(&used, &before, i + 1)) {
      }
      return &tables[i];
    }
  }
  return NULL;
}

void vprof_module_table_copy(unsigned char* table, const void* unused) {
  (void)unused;
  static const unsigned char off[VPROF_PAGE_BYTES];
  for (unsigned at = 0; at < VPROF_RT_SITES; at += VPROF_PAGE_BYTES) {
    if (memcmp(vprof_site_on + at, off, VPROF_PAGE_BYTES) != 0 ||
        memcmp(table + at, off, VPROF_PAGE_BYTES) != 0) {
      memcpy(table + at, vprof_site_on + at, VPROF_PAGE_BYTES);
    }
  }
}

static void fill(atomic_uintptr_t* entry, unsigned char* table) {
  unsigned seen;
  do {
    seen = atomic_load(&changes);
    while (!borrow(entry, (uintptr_t)table)) {  // another thread is about to give it back
    }
    if (!vprof_frontier_share(table)) {
      vprof_module_table_copy(table, NULL);
    }
    give_back(entry);
  } while (seen != atomic_load(&changes));
}

void vprof_rt_add_table(unsigned char* table) {
  if (entry_of(table) != NULL) {
    return;  // another object of the module has done it
  }
  atomic_uintptr_t* entry = free_entry_for(table);
  if (entry == NULL) {
    vprof_settings_warn(
        "more than 1024 libraries are instrumented; those loaded last record nothing");
  } else if (started) {
    fill(entry, table);
  }
}

void vprof_rt_remove_table(unsigned char* table) {
  atomic_uintptr_t* entry = entry_of(table);
  if (entry == NULL) {
    return;
  }
  uintptr_t expected = (uintptr_t)table;
  while (!atomic_compare_exchange_weak(entry, &expected, 0)) {
    expected = (uintptr_t)table;
  }
}

void vprof_module_tables_each(void (*work)(unsigned char* table, const void* argument),
                              const void* argument) {
  atomic_fetch_add(&changes, 1);
  for (int i = atomic_load(&used); i-- > 0;) {
    const uintptr_t table = atomic_load(&tables[i]);
    if (borrow(&tables[i], table)) {
      work((unsigned char*)table, argument);
      give_back(&tables[i]);
    }
  }
}

void vprof_module_tables_start(void) {
  started = true;
  for (int i = atomic_load(&used); i-- > 0;) {
    const uintptr_t table = atomic_load(&tables[i]) & ~(uintptr_t)kBorrowed;
    if (table != 0) {
      fill(&tables[i], (unsigned char*)table);
    }
  }
}

void vprof_module_tables_forked(void) {
  for (int i = atomic_load(&used); i-- > 0;) {
    give_back(&tables[i]);
  }
}
