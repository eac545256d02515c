// Opening and mapping the control file.
//
// It is opened where the program was started, with its rights of that moment: later calls of
// chroot, setuid or close do not matter, and children of fork have the mapping. Whoever may write
// the file decides which sites are on, and nothing else. So it must belong to the user of this
// process or to root, and nobody else may be able to write it.
//
// A store to a page of a file raises SIGBUS if the disk has no room for it, and in a tmpfs so does
// a load from a hole. So all pages are brought in first (MADV_POPULATE_READ), and a page is made
// writable before a store (MADV_POPULATE_WRITE); these fail instead.
#define _GNU_SOURCE
#include "storage/frontier.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/raw_syscall.h"
#include "base/settings.h"
#include "storage/dead_man.h"
#include "storage/module_tables.h"
#include "vprof/runtime/record.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

_Static_assert(VPROF_FRONTIER_SITES == VPROF_RT_SITES, "the file has a byte for every site");

static const struct vprof_frontier_header always_driven = {.heartbeat_ns = 1};
const struct vprof_frontier_header* vprof_frontier = &always_driven;
static struct vprof_frontier_header* mapped;  // the same; NULL: there is no control file
static bool left;                             // the sites are private

bool vprof_live(void) { return mapped != NULL; }

static const char* objection_to(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return strerror(errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return "it is not a regular file";
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return "it belongs to another user";
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "others may write to it";
  }
  if (status.st_size != (off_t)VPROF_FRONTIER_BYTES) {
    return "it does not have the size of a control file";
  }
  return NULL;
}

static const char* objection_to_header(const struct vprof_frontier_header* header) {
  if (header->magic != VPROF_FRONTIER_MAGIC) {
    return "it is not a control file of vprof";
  }
  if (header->version != VPROF_FRONTIER_VERSION ||
      header->header_bytes != VPROF_FRONTIER_HEADER_BYTES ||
      header->sites != VPROF_FRONTIER_SITES) {
    return "it was made by another version of vprof";
  }
  return NULL;
}

// Kernels before 5.14 do not know these. There all pages are taken to be available.
static bool populate(void* from, unsigned long bytes, int how) {
  const long result = vprof_syscall(SYS_madvise, (long)from, (long)bytes, how, 0, 0, 0);
  return result == 0 || result == -EINVAL;
}

// The header is checked as mapped: what was read before could be another one. The sites are mapped
// elsewhere first, since what is over vprof_site_on stays.
static const char* map(int fd) {
  if (sysconf(_SC_PAGESIZE) > (long)VPROF_FRONTIER_HEADER_BYTES) {
    return "this machine's pages are larger than 4096 bytes";
  }
  struct vprof_frontier_header* header =
      mmap(NULL, VPROF_FRONTIER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (header == MAP_FAILED) {
    return strerror(errno);
  }
  const char* objection = populate(header, VPROF_FRONTIER_BYTES, MADV_POPULATE_READ)
                              ? objection_to_header(header)
                              : "there is no room for it on its disk";
  // An executable that was linked with an older libvprof has the sites at an odd address.
  if (objection == NULL && mremap((char*)header + sizeof *header, VPROF_RT_SITES, VPROF_RT_SITES,
                                  MREMAP_MAYMOVE | MREMAP_FIXED, vprof_site_on) == MAP_FAILED) {
    objection = errno == EINVAL ? "the program is too old for it: build it again" : strerror(errno);
  }
  if (objection != NULL) {
    munmap(header, VPROF_FRONTIER_BYTES);
    return objection;
  }
  madvise(vprof_site_on, VPROF_RT_SITES, MADV_DONTDUMP);
  mapped = header;
  vprof_frontier = header;
  return NULL;
}

// Like what the driver makes. Not sparse: on a full disk, a load from a hole would be a SIGBUS.
static int write_fresh(int fd) {
  static const struct vprof_frontier_header fresh = {
      .magic = VPROF_FRONTIER_MAGIC,
      .version = VPROF_FRONTIER_VERSION,
      .header_bytes = VPROF_FRONTIER_HEADER_BYTES,
      .sites = VPROF_FRONTIER_SITES,
  };
  const int error = posix_fallocate(fd, 0, VPROF_FRONTIER_BYTES);
  if (error != 0) {
    return error;
  }
  const ssize_t written = pwrite(fd, &fresh, sizeof fresh, 0);
  return written == (ssize_t)sizeof fresh ? 0 : written < 0 ? errno : EIO;
}

// Makes a control file in which nobody drives, unless another process does so at the same time.
// Returns 0 or what went wrong.
static int make(const char* path) {
  char draft[VPROF_PATH_MAX + sizeof "/.frontier." + 20];
  snprintf(draft, sizeof draft, "%s/.frontier.%ld", vprof_settings.directory, (long)getpid());
  unlink(draft);
  const int fd = open(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    return errno;
  }
  int error = write_fresh(fd);
  vprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
  if (error == 0 && link(draft, path) != 0 && errno != EEXIST) {
    error = errno;
  }
  unlink(draft);
  return error;
}

// Whoever says which sites to record wants a recording, not a live run.
static bool records_only_when_driven(void) { return vprof_armed && getenv("VPROF_SITES") == NULL; }

// Returns a descriptor, or -1 with errno: ENOENT if there is none and need not be.
static int open_control_file(const char* path) {
  // O_NONBLOCK: nobody may be there to open the other end of a FIFO.
  const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int fd = open(path, flags);
  if (fd >= 0 || errno != ENOENT || !records_only_when_driven()) {
    return fd;
  }
  const int error = make(path);
  if (error != 0) {
    errno = error == ENOENT ? EIO : error;
    return -1;
  }
  return open(path, flags);
}

enum vprof_frontier_found vprof_frontier_map(void) {
  char path[VPROF_PATH_MAX + sizeof "/" VPROF_FRONTIER_NAME];
  snprintf(path, sizeof path, "%s/%s", vprof_settings.directory, VPROF_FRONTIER_NAME);
  const int fd = open_control_file(path);
  if (fd < 0) {
    if (errno == ENOENT) {
      return VPROF_FRONTIER_ABSENT;
    }
    vprof_settings_refuse("", path, errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    return VPROF_FRONTIER_REFUSED;
  }
  const char* objection = objection_to(fd);
  if (objection == NULL) {
    objection = map(fd);
  }
  vprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
  if (objection != NULL) {
    vprof_settings_refuse("", path, objection);
  }
  return objection == NULL ? VPROF_FRONTIER_MAPPED : VPROF_FRONTIER_REFUSED;
}

static bool make_private(unsigned char* table) {
  return vprof_syscall(SYS_mmap, (long)table, VPROF_RT_SITES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                       0) == (long)table;
}

static void leave_table(unsigned char* table, const void* unused) {
  (void)unused;
  make_private(table);
}

void vprof_frontier_leave(void) {
  if (!left && make_private(vprof_site_on)) {
    left = true;
    vprof_module_tables_each(leave_table, NULL);
  }
}

bool vprof_frontier_share(unsigned char* table) {
  if (mapped == NULL) {
    return false;
  }
  if (left) {
    make_private(table);
    return true;
  }
  // Of a shared mapping, a size of 0 makes another one of the same pages.
  if (vprof_confined() ||
      vprof_syscall(SYS_mremap, (long)vprof_site_on, 0, VPROF_RT_SITES,
                    MREMAP_MAYMOVE | MREMAP_FIXED, (long)table, 0) != (long)table) {
    vprof_settings_warn("a library cannot share the control file; its functions are not recorded");
    return true;
  }
  populate(table, VPROF_RT_SITES, MADV_POPULATE_READ);
  vprof_syscall(SYS_madvise, (long)table, VPROF_RT_SITES, MADV_DONTDUMP, 0, 0, 0);
  return true;
}

static bool prepare(void* page) {
  return populate(page, VPROF_FRONTIER_HEADER_BYTES, MADV_POPULATE_WRITE);
}

static struct vprof_dead_man dead_man(void) {
  const struct vprof_dead_man man = {mapped, vprof_site_on,
                                     VPROF_FRONTIER_STALE_NS * vprof_settings.patience, prepare};
  return man;
}

uint64_t vprof_frontier_check(uint64_t now) {
  const struct vprof_dead_man man = dead_man();
  switch (vprof_dead_man_check(&man, now)) {
    case VPROF_DEAD_MAN_DRIVEN:
      return __atomic_load_n(&mapped->heartbeat_ns, __ATOMIC_RELAXED) + man.stale_ns + 1;
    case VPROF_DEAD_MAN_STUCK:
      vprof_frontier_leave();
      break;
    case VPROF_DEAD_MAN_UNDRIVEN:
      break;
  }
  return UINT64_MAX;
}

void vprof_frontier_enforce_limit(void) {
  const struct vprof_dead_man man = dead_man();
  if (!vprof_dead_man_switch_off(&man)) {
    vprof_frontier_leave();
  }
}
