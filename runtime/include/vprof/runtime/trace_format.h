/* The trace: what the runtime writes and the analyzer reads.
 *
 *   trace directory ── one file per process ── chunks, each of one thread ── 16-byte slots
 *
 *   <dir>/sites.json                     what the site numbers mean (copied there by the driver)
 *   <dir>/<pid>-<start_ns>.vpt           one process (a fork starts a new one)
 *
 *   ┌────────────────────── file ──────────────────────┐
 *   │ vprof_file_header (4096 bytes)                   │
 *   │ chunk │ chunk │ chunk │ ...                      │   back to back, each a multiple of 4096 bytes;
 *   └──────────────────────────────────────────────────┘   `used` in the header says where they end
 *   ┌───────────── chunk ──────────────┐
 *   │ vprof_chunk_header (64 bytes)    │
 *   │ slot │ slot │ slot │ 0 0 0 0 ... │
 *   └──────────────────────────────────┘
 *
 *   slot, 16 bytes, little-endian:
 *    word0: start of a frame or time of an event, in clock ticks (or the object, in a continuation)
 *    word1: bits 0..23 id (a site, or an event >= VPROF_EV_FIRST); bits 24..63 duration or payload
 *
 * Guarantees
 *  - A slot is whole if and only if word1 is not zero: chunks start zeroed, and word1 is stored last (with release).
 *    So a trace reads up to the last record stored, whenever the program was killed. A zero slot before a non-zero one
 *    is a record that was being written when the thread stopped: the reader skips and counts it.
 *  - Frames are written at their exit, so in a thread's slots an inner frame stands before the outer one, apart from
 *    records of signal handlers, which may stand one slot late. Readers rebuild nesting from start and duration.
 *  - A head and its continuation slots are adjacent in one chunk. Continuations carry VPROF_EV_CONT, so that every slot
 *    can be told apart without its neighbours.
 *  - All structs are fixed width. This header uses nothing but <stdint.h>. C and C++.
 */
#ifndef VPROF_RUNTIME_TRACE_FORMAT_H
#define VPROF_RUNTIME_TRACE_FORMAT_H

#include <stdint.h>

#define VPROF_TRACE_MAGIC 0x0a31525446525056ull /* "VPRFTR1\n" */
#define VPROF_CHUNK_MAGIC 0x4b4e4843u           /* "CHNK" */
#define VPROF_TRACE_VERSION 1u
#define VPROF_TRACE_ENDIAN 0x01020304u
#define VPROF_FILE_HEADER_BYTES 4096u
#define VPROF_PAGE_BYTES 4096u

#define VPROF_ID_BITS 24
#define VPROF_ID_MASK 0xffffffull
#define VPROF_PAYLOAD_MAX ((1ull << 40) - 1)
#define VPROF_MAX_SITES (1u << 20) /* sites are 1 .. VPROF_MAX_SITES-1 */

struct vprof_slot {
  uint64_t word0;
  uint64_t word1;
};

/* Ids of events. "+ CONT {a, b}": followed by a continuation slot with word0 = a and payload b. */
enum vprof_event {
  VPROF_EV_FIRST = 0xff0000,
  VPROF_EV_PAD = 0xff0000,  /* rest of the chunk is unused (a multi-slot event did not fit) */
  VPROF_EV_CONT = 0xff0001, /* continuation of the head before it */

  /* Semantic intervals. payload: enum vprof_interval_flags. + CONT {interval id, index in sites.json "intervals"} */
  VPROF_EV_BEGIN = 0xff0010,
  VPROF_EV_END = 0xff0011,
  VPROF_EV_SWITCH = 0xff0012, /* interval id 0: this thread now works for nothing in particular */
  /* payload: length in bytes (<= VPROF_LABEL_MAX). + CONT {interval id, flags} + ceil(length/8) x CONT {8 bytes of text, 0} */
  VPROF_EV_LABEL = 0xff0013,
  /* Units of work that an interval does. payload: flags. + CONT {interval id, 0} + CONT {units, 0} */
  VPROF_EV_WORK = 0xff0014,

  /* Task queues. payload: index in sites.json "sync"; VPROF_SYNC_TASK: an annotation. + CONT {task, 0} */
  VPROF_EV_ENQUEUE = 0xff0020,
  VPROF_EV_DEQUEUE = 0xff0021,

  /* Threads. START is the first event of a thread that pthread_create made: + CONT {pthread_t, serial of the creator}.
   * The thread's end is a RELEASE_JOIN on its pthread_t. */
  VPROF_EV_THREAD_START = 0xff0030,
  /* word0 = clock ticks. + CONT {CLOCK_MONOTONIC ns, 0} + CONT {CLOCK_REALTIME ns, 0}. Written by the helper thread. */
  VPROF_EV_CLOCK = 0xff0031,
  /* A frame of 2^40 ticks or more. payload: the site. + CONT {duration in ticks, 0} */
  VPROF_EV_LONG_FRAME = 0xff0032,
  /* Records of this thread that found no room since the last such event. payload: how many */
  VPROF_EV_DROPPED = 0xff0033,
  /* A thread could run and had no processor: word0 = start, payload = duration. + CONT {serial of the thread, 0}. Written by
   * the helper thread, after the fact. */
  VPROF_EV_PREEMPTED = 0xff0034,

  /* Waits: word0 = start, payload = duration. + CONT {object, vprof_aux}. Only waits that blocked are recorded. */
  VPROF_EV_WAIT_FIRST = 0xff0100,
  VPROF_EV_WAIT_MUTEX = 0xff0100,
  VPROF_EV_WAIT_RDLOCK = 0xff0101,
  VPROF_EV_WAIT_WRLOCK = 0xff0102,
  VPROF_EV_WAIT_COND = 0xff0103,
  VPROF_EV_WAIT_JOIN = 0xff0104,
  VPROF_EV_WAIT_SEM = 0xff0105,
  VPROF_EV_WAIT_APP =
      0xff0106, /* an application's own acquire; aux.sync = index in sites.json "sync" */
  /* Below: object 0 where it is not known. Recorded from 5 us on (SEND: 50 us), since what they wait for is not asked first. */
  VPROF_EV_WAIT_STREAM = 0xff0107, /* read, recv, accept, ...: pipe, socket, eventfd */
  VPROF_EV_WAIT_POLL = 0xff0108,  /* poll, select, epoll; object: the first stream that was ready */
  VPROF_EV_WAIT_FILE = 0xff0109,  /* read, write, fsync of a file */
  VPROF_EV_WAIT_TIMER = 0xff010a, /* sleeps, timerfd */
  VPROF_EV_WAIT_SPIN = 0xff010b,
  VPROF_EV_WAIT_BARRIER = 0xff010c,
  VPROF_EV_WAIT_ONCE = 0xff010d,
  VPROF_EV_WAIT_FUTEX = 0xff010e,  /* by syscall(); object: the word's address */
  VPROF_EV_WAIT_SYSV = 0xff010f,   /* semop; object: the id */
  VPROF_EV_WAIT_QUEUE = 0xff0110,  /* POSIX and SysV message queues */
  VPROF_EV_WAIT_SIGNAL = 0xff0111, /* sigwait, sigsuspend, signalfd, ...; object: the process */
  VPROF_EV_WAIT_CHILD = 0xff0112,  /* waitpid; object: the child */
  VPROF_EV_WAIT_SEND = 0xff0113,   /* write, send, connect: until there was room or an answer */
  VPROF_EV_WAIT_LAST = 0xff01ff,

  /* Releases: word0 = time. + CONT {object, vprof_aux}. Recorded only if somebody waits (RELEASE_APP: always).
   * The kind of a release is that of the wait it ends, 0x100 higher. */
  VPROF_EV_RELEASE_FIRST = 0xff0200,
  VPROF_EV_RELEASE_MUTEX = 0xff0200,
  VPROF_EV_RELEASE_RWLOCK = 0xff0201, /* ends RDLOCK and WRLOCK waits */
  VPROF_EV_RELEASE_COND = 0xff0203,   /* payload 1: broadcast */
  VPROF_EV_RELEASE_JOIN = 0xff0204,
  VPROF_EV_RELEASE_SEM = 0xff0205,
  VPROF_EV_RELEASE_APP = 0xff0206,
  VPROF_EV_RELEASE_STREAM = 0xff0207, /* ends STREAM and POLL waits */
  VPROF_EV_RELEASE_SPIN = 0xff020b,
  VPROF_EV_RELEASE_BARRIER = 0xff020c, /* an arrival; the last one ends the others' waits */
  VPROF_EV_RELEASE_ONCE = 0xff020d,
  VPROF_EV_RELEASE_FUTEX = 0xff020e,
  VPROF_EV_RELEASE_SYSV = 0xff020f,
  VPROF_EV_RELEASE_QUEUE = 0xff0210,
  VPROF_EV_RELEASE_SIGNAL = 0xff0211,
  VPROF_EV_RELEASE_LAST = 0xff02ff
};

enum vprof_interval_flags {
  /* The id is known inside one process only (a pointer used as key): readers qualify it by the process. Without the
   * flag, ids are the same in all processes of a run, as vprof_begin(id) says. */
  VPROF_INTERVAL_PROCESS_LOCAL = 1
};

/* The 40-bit payload of a wait's or release's continuation:
 *   bit 0       the object lies in memory shared between processes (match across processes by address)
 *   bits 1..31  for *_APP: index in sites.json "sync"; else 0
 *   bits 32..39 unused
 * Sequence numbers stand in a second continuation: + CONT {sequence, 0}. Each object has one running number of
 * recorded releases (objects may share a counter; numbers of one object still only grow). A release carries its own
 * number; a wait carries the newest number when it ended. So the release that ended wait W on object O is the one
 * with the greatest sequence <= W.sequence on O. For RELEASE_APP and WAIT_APP the sequence is 0: match by time. */
#define VPROF_SYNC_TASK 0xffffffu /* vprof_task_created and vprof_task_taken */
#define VPROF_AUX_SHARED 1ull
#define VPROF_AUX_SYNC_SHIFT 1
#define VPROF_AUX_TIMED_OUT (1ull << 32) /* of a wait: nobody ended it, its time was over */

#define VPROF_LABEL_MAX 63u

/* Classes of waits; the configuration switches each on or off. Bits of vprof_file_header.classes. */
enum vprof_class {
  VPROF_CLASS_MUTEX = 1 << 0,
  VPROF_CLASS_RWLOCK = 1 << 1,
  VPROF_CLASS_COND = 1 << 2,
  VPROF_CLASS_JOIN = 1 << 3, /* and who made which thread */
  VPROF_CLASS_SEM = 1 << 4,
  VPROF_CLASS_APP = 1 << 5, /* what the configuration names under "sync", and tasks */
  VPROF_CLASS_SPIN = 1 << 6,
  VPROF_CLASS_BARRIER = 1 << 7,
  VPROF_CLASS_ONCE = 1 << 8,
  VPROF_CLASS_FUTEX = 1 << 9,
  VPROF_CLASS_SYSV = 1 << 10,
  VPROF_CLASS_STREAM = 1 << 11, /* pipes, sockets, eventfd; poll, select, epoll */
  VPROF_CLASS_FILE = 1 << 12,
  VPROF_CLASS_QUEUE = 1 << 13,
  VPROF_CLASS_SIGNAL = 1 << 14,
  VPROF_CLASS_TIMER = 1 << 15,
  VPROF_CLASS_CHILD = 1 << 16,
  VPROF_CLASS_PREEMPTION = 1 << 17, /* no wait, but the time without a processor */
  VPROF_CLASS_ALL = (1 << 18) - 1
};
/* As they are called in the configuration and in VPROF_WAITS_OFF. */
#define VPROF_CLASS_NAMES                                                                         \
  {"mutex", VPROF_CLASS_MUTEX}, {"rwlock", VPROF_CLASS_RWLOCK}, {"condition", VPROF_CLASS_COND},  \
      {"join", VPROF_CLASS_JOIN}, {"semaphore", VPROF_CLASS_SEM},                                 \
      {"application", VPROF_CLASS_APP}, {"spin", VPROF_CLASS_SPIN},                               \
      {"barrier", VPROF_CLASS_BARRIER}, {"once", VPROF_CLASS_ONCE}, {"futex", VPROF_CLASS_FUTEX}, \
      {"sysv", VPROF_CLASS_SYSV}, {"stream", VPROF_CLASS_STREAM}, {"file", VPROF_CLASS_FILE},     \
      {"queue", VPROF_CLASS_QUEUE}, {"signal", VPROF_CLASS_SIGNAL}, {"timer", VPROF_CLASS_TIMER}, \
      {"child", VPROF_CLASS_CHILD}, {                                                             \
    "preemption", VPROF_CLASS_PREEMPTION                                                          \
  }

enum vprof_clock { VPROF_CLOCK_TSC = 1, VPROF_CLOCK_MONOTONIC = 2, VPROF_CLOCK_CNTVCT = 3 };

struct vprof_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t endian;     /* VPROF_TRACE_ENDIAN as the writer sees it */
  uint32_t slot_bytes; /* 16 */
  uint32_t clock;      /* enum vprof_clock */
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t
      start_ticks; /* clock, CLOCK_MONOTONIC and CLOCK_REALTIME read together when the file was made */
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t ticks_per_second; /* first estimate; CLOCK events refine it */
  uint64_t used;             /* bytes of the file that hold the header and chunks; grows; atomic */
  uint64_t capacity;         /* bytes reserved */
  /* What tracing cost and lost: atomic counters, for the report. */
  uint64_t chunks;            /* chunks handed out */
  uint64_t stalls;            /* hand-overs in which the thread had to prepare its chunk itself */
  uint64_t dropped;           /* slots that found no room */
  uint64_t threads;           /* threads that wrote */
  uint64_t record_ticks_x256; /* calibrated cost of one enabled scope, in ticks * 256 */
  uint64_t family;   /* same for processes that come from one another by fork without exec */
  char program[256]; /* path of the executable, zero-terminated, cut if longer */
  uint64_t classes;  /* enum vprof_class: which waits were recorded */
  uint64_t
      archived; /* full chunks that were written out, so that their memory could be used again */
  uint64_t overwritten; /* ring: slots of chunks that were used again */
  /* Preemption, if it is among the classes. */
  uint64_t
      switches_refused; /* errno: why context switches of (some) threads could not be read; 0: nothing was refused */
  uint64_t unwatched;     /* threads of which they could not be read */
  uint64_t switches_lost; /* records of context switches that found no room */
  uint64_t let_go;        /* threads that were no longer watched, as they switched too often */
  uint8_t reserved[4096 - 8 - 4 * 6 - 8 * 19 - 256];
};

struct vprof_chunk_header {
  uint32_t magic;
  uint32_t bytes;         /* of the whole chunk with this header; a multiple of VPROF_PAGE_BYTES */
  uint32_t thread_serial; /* 1, 2, ... in order of first record; 0: the helper thread */
  uint32_t tid;           /* kernel thread id */
  uint32_t index;         /* 0, 1, ... within the thread */
  uint32_t reserved0;
  uint64_t opened_ticks;
  char thread_name[16]; /* pthread name at that time */
  uint64_t next;        /* ring: where the thread's next chunk was; for the runtime only */
  uint64_t reserved;
};

#ifdef __cplusplus
static_assert(sizeof(struct vprof_slot) == 16, "layout is part of the format");
static_assert(sizeof(struct vprof_file_header) == VPROF_FILE_HEADER_BYTES,
              "layout is part of the format");
static_assert(sizeof(struct vprof_chunk_header) == 64, "layout is part of the format");
#else
_Static_assert(sizeof(struct vprof_slot) == 16, "layout is part of the format");
_Static_assert(sizeof(struct vprof_file_header) == VPROF_FILE_HEADER_BYTES,
               "layout is part of the format");
_Static_assert(sizeof(struct vprof_chunk_header) == 64, "layout is part of the format");
#endif

#endif
