/* The trace: what the runtime writes and the analyzer reads.
 *
 *   trace directory -- one file per process -- chunks, each of one thread -- 16-byte slots
 *
 *   <dir>/sites.json              what the site numbers mean (the driver copies it there)
 *   <dir>/<pid>-<start_ns>.vpt    one process; a child of fork starts its own
 *
 *   +---------------------- file ----------------------+
 *   | vprof_file_header (4096 bytes)                   |
 *   | chunk | chunk | chunk | ...                      |   back to back, each a multiple of 4096
 *   +--------------------------------------------------+   bytes; `used` in the header is the end
 *
 *   +------------- chunk --------------+
 *   | vprof_chunk_header (64 bytes)    |
 *   | slot | slot | slot | 0 0 0 0 ... |
 *   +----------------------------------+
 *
 *   slot, 16 bytes, little-endian:
 *     word0   start of a frame or time of an event, in clock ticks (a continuation: its own data)
 *     word1   bits 0..23: id, a site or an event >= VPROF_EV_FIRST
 *             bits 24..63: duration or payload
 *
 * Guarantees
 *  - A slot is whole if and only if word1 is not zero: chunks start zeroed, and word1 is stored
 *    last, with release. So a trace can be read up to the last record stored, whenever the program
 *    was killed. A zero slot before a non-zero one is a record that was being written when its
 *    thread stopped: readers skip and count it.
 *  - Frames are written at their exit, so a thread's inner frames come before the outer one.
 *    Records of signal handlers may be one slot off. Readers rebuild the nesting from start and
 *    duration.
 *  - A head and its continuation slots are adjacent, in one chunk. Continuations carry
 *    VPROF_EV_CONT, so every slot can be classified without its neighbours.
 *  - All structs have a fixed layout. This header includes only <stdint.h>. C and C++.
 */
#ifndef VPROF_RUNTIME_TRACE_FORMAT_H
#define VPROF_RUNTIME_TRACE_FORMAT_H

#include <stdint.h>

#define VPROF_TRACE_MAGIC 0x0a31525446525056ull /* "VPRFTR1\n" */
#define VPROF_CHUNK_MAGIC 0x4b4e4843u           /* "CHNK" */
#define VPROF_TRACE_VERSION 2u
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

/* Classes of waits, which the configuration switches on and off. Bits of vprof_file_header.classes.
 *
 *   X(class, bit, name in the configuration and in VPROF_WAITS_OFF)
 */
/* clang-format off */
#define VPROF_WAIT_CLASSES(X)                                                                      \
  X(MUTEX,       0, "mutex")                                                                       \
  X(RWLOCK,      1, "rwlock")                                                                      \
  X(COND,        2, "condition")                                                                   \
  X(JOIN,        3, "join")          /* also who created which thread */                           \
  X(SEM,         4, "semaphore")                                                                   \
  X(APP,         5, "application")   /* what the configuration lists under "sync", and tasks */    \
  X(SPIN,        6, "spin")                                                                        \
  X(BARRIER,     7, "barrier")                                                                     \
  X(ONCE,        8, "once")                                                                        \
  X(FUTEX,       9, "futex")                                                                       \
  X(SYSV,       10, "sysv")                                                                        \
  X(STREAM,     11, "stream")        /* pipes, sockets, eventfd; poll, select, epoll */            \
  X(FILE,       12, "file")                                                                        \
  X(QUEUE,      13, "queue")                                                                       \
  X(SIGNAL,     14, "signal")                                                                      \
  X(TIMER,      15, "timer")                                                                       \
  X(CHILD,      16, "child")                                                                       \
  X(PREEMPTION, 17, "preemption")    /* not a wait: time without a processor */

enum vprof_class {
#define VPROF_CLASS_BIT(vprof_class, vprof_bit, vprof_name) \
  VPROF_CLASS_##vprof_class = 1 << (vprof_bit),
  VPROF_WAIT_CLASSES(VPROF_CLASS_BIT)
#undef VPROF_CLASS_BIT
  VPROF_CLASS_ALL = (1 << 18) - 1
};
/* clang-format on */

/* Initialisers {name, bit mask}, for a table of the classes. */
#define VPROF_NAMED_CLASS(vprof_class, vprof_bit, vprof_name) \
  {vprof_name, VPROF_CLASS_##vprof_class},
#define VPROF_CLASS_NAMES VPROF_WAIT_CLASSES(VPROF_NAMED_CLASS)

/* What ended a wait, among the releases of its object. */
enum vprof_ended_by {
  VPROF_ENDED_BY_HOLDER, /* the thread that held the object last; each holder explains its part */
  VPROF_ENDED_BY_POST,   /* the post after which the count was no longer 0 */
  VPROF_ENDED_BY_NEWEST, /* the newest one that the wait has seen, by sequence */
  VPROF_ENDED_BY_SIGNAL, /* one of the signals within the wait, each of which wakes one waiter */
  VPROF_ENDED_BY_FIRST,  /* the first one within the wait */
  VPROF_ENDED_BY_LAST,   /* the last one within the wait */
  VPROF_ENDED_BY_NOBODY  /* no release is recorded */
};

/* The kinds of waits. To add one, add a line here and a release below, interpose on the function
 * (runtime/src/interpose/, base/real.h), and list it in docs/trace-format.md.
 *
 *   X(kind, number, class, function that reports name, ended by)
 *
 * The event is VPROF_EV_WAIT_<kind>, which is VPROF_EV_WAIT_FIRST + number. An unknown object is 0.
 * A call that cannot be tried first counts as a wait from 5 us on (SEND: 50 us).
 */
/* clang-format off */
#define VPROF_WAIT_KINDS(X)                                                                        \
  X(MUTEX,   0x00, MUTEX,   "pthread_mutex_lock",    HOLDER)                                       \
  X(RDLOCK,  0x01, RWLOCK,  "pthread_rwlock_rdlock", HOLDER)                                       \
  X(WRLOCK,  0x02, RWLOCK,  "pthread_rwlock_wrlock", HOLDER)                                       \
  X(COND,    0x03, COND,    "pthread_cond_wait",     SIGNAL)                                       \
  X(JOIN,    0x04, JOIN,    "pthread_join",          LAST)                                         \
  X(SEM,     0x05, SEM,     "sem_wait",              POST)                                         \
  X(APP,     0x06, APP,     "acquire",               LAST)    /* aux: which one in sites.json */  \
  X(STREAM,  0x07, STREAM,  "read",                  FIRST)   /* pipe, socket, eventfd */          \
  X(POLL,    0x08, STREAM,  "poll",                  FIRST)   /* object: the first ready stream */ \
  X(FILE,    0x09, FILE,    "file I/O",              NOBODY)                                       \
  X(TIMER,   0x0a, TIMER,   "sleep",                 NOBODY)                                       \
  X(SPIN,    0x0b, SPIN,    "pthread_spin_lock",     HOLDER)                                       \
  X(BARRIER, 0x0c, BARRIER, "pthread_barrier_wait",  NEWEST)                                       \
  X(ONCE,    0x0d, ONCE,    "pthread_once",          LAST)                                         \
  X(FUTEX,   0x0e, FUTEX,   "futex",                 LAST)    /* object: the word's address */     \
  X(SYSV,    0x0f, SYSV,    "semop",                 LAST)    /* object: the id */                 \
  X(QUEUE,   0x10, QUEUE,   "message queue",         LAST)    /* POSIX and SysV */                 \
  X(SIGNAL,  0x11, SIGNAL,  "signal",                LAST)    /* object: the process */            \
  X(CHILD,   0x12, CHILD,   "waitpid",               LAST)    /* object: the child */              \
  X(SEND,    0x13, STREAM,  "write",                 LAST)    /* for room */                       \
  X(RING,    0x14, FILE,    "io_uring",              NOBODY)  /* completions */                    \
  X(OPENMP_LOCK, 0x15, MUTEX, "OpenMP lock",         HOLDER)                                       \
  X(ROOM,    0x16, STREAM,  "poll",                  LAST)    /* object: as of SEND */             \
  X(FILE_LOCK, 0x17, FILE,  "file lock",             LAST)    /* object: the file */              \
  X(YIELD,   0x18, SPIN,    "sched_yield",           NOBODY)
/* clang-format on */

/* The calls behind FILE waits: X(call, number, name). 0: not known, as in older traces. */
/* clang-format off */
#define VPROF_FILE_CALLS(X)                                                                        \
  X(READ,      1, "read")                                                                          \
  X(READV,     2, "readv")                                                                         \
  X(PREAD,     3, "pread")                                                                         \
  X(PREADV,    4, "preadv")                                                                        \
  X(WRITE,     5, "write")                                                                         \
  X(WRITEV,    6, "writev")                                                                        \
  X(PWRITE,    7, "pwrite")                                                                        \
  X(PWRITEV,   8, "pwritev")                                                                       \
  X(FSYNC,     9, "fsync")                                                                         \
  X(FDATASYNC, 10, "fdatasync")                                                                    \
  X(MSYNC,     11, "msync")
/* clang-format on */

enum vprof_file_call {
  VPROF_FILE_OTHER = 0,
#define VPROF_FILE_CALL(vprof_call, vprof_number, vprof_name) \
  VPROF_FILE_##vprof_call = vprof_number,
  VPROF_FILE_CALLS(VPROF_FILE_CALL)
#undef VPROF_FILE_CALL
};

/* Ids of events. "+ CONT {a, b}": a continuation slot follows, with word0 = a and payload b. */
enum vprof_event {
  VPROF_EV_FIRST = 0xff0000,
  VPROF_EV_PAD = 0xff0000,  /* the rest of the chunk is unused (an event did not fit) */
  VPROF_EV_CONT = 0xff0001, /* continues the head before it */

  /* Semantic intervals. payload: enum vprof_interval_flags.
   * + CONT {interval id, index in sites.json "intervals"}
   * BEGIN and SWITCH of a thread that waits for descriptors: + CONT {when its poll, select or
   * epoll_wait returned last, number of other intervals that the thread has begun or resumed since
   * then, plus VPROF_NO_BATCH} */
  VPROF_EV_BEGIN = 0xff0010,
  VPROF_EV_END = 0xff0011,
  VPROF_EV_SWITCH = 0xff0012, /* interval id 0: the thread now works for no interval */
  /* payload: length in bytes, at most VPROF_LABEL_MAX.
   * + CONT {interval id, flags} + ceil(length/8) x CONT {8 bytes of text, 0} */
  VPROF_EV_LABEL = 0xff0013,
  /* Units of work that an interval does. payload: flags.
   * + CONT {interval id, 0} + CONT {units, 0} */
  VPROF_EV_WORK = 0xff0014,
  /* The trace of another system that an interval belongs to: a W3C traceparent as the program has
   * it, unchecked. Otherwise like a LABEL. */
  VPROF_EV_TRACE_CONTEXT = 0xff0015,

  /* Task queues. payload: index in sites.json "sync", or VPROF_SYNC_TASK for annotations.
   * + CONT {task, 0} */
  VPROF_EV_ENQUEUE = 0xff0020,
  VPROF_EV_DEQUEUE = 0xff0021,

  /* The first event of a thread that pthread_create made. Its end is a RELEASE_JOIN on its
   * pthread_t. + CONT {pthread_t, serial of the creator} */
  VPROF_EV_THREAD_START = 0xff0030,
  /* word0: clock ticks. + CONT {CLOCK_MONOTONIC ns, 0} + CONT {CLOCK_REALTIME ns, 0}. Written by
   * the helper thread. */
  VPROF_EV_CLOCK = 0xff0031,
  /* A frame of 2^40 ticks or more. payload: the site. + CONT {duration in ticks, 0} */
  VPROF_EV_LONG_FRAME = 0xff0032,
  /* payload: how many records of this thread found no room since the last such event */
  VPROF_EV_DROPPED = 0xff0033,
  /* A thread could run and had no processor: word0 = start, payload = duration.
   * + CONT {serial of the thread, 0}. Written afterwards, by the thread or by the helper thread. */
  VPROF_EV_PREEMPTED = 0xff0034,
  /* The thread did work of the runtime's own: it took a new chunk, and perhaps made the file first.
   * word0 = start, payload = duration. Readers take that time out of the intervals. */
  VPROF_EV_SETUP = 0xff0035,
  /* In a live run nobody drove, so no thread of the process recorded events: word0 = start. + CONT
   * {end, 0}. An interval that is not wholly before or after it is not known. Written afterwards,
   * by the helper thread. */
  VPROF_EV_GAP = 0xff0036,

  /* Waits: word0 = start, payload = duration. + CONT {object, vprof_aux} + CONT {sequence, 0}. Of
   * a COND wait also + CONT {mutex, vprof_aux of the mutex}. Only waits that blocked are recorded.
   */
  VPROF_EV_WAIT_FIRST = 0xff0100,
/* clang-format off */
#define VPROF_WAIT_EVENT(vprof_kind, vprof_number, vprof_class, vprof_function, vprof_ended_by) \
  VPROF_EV_WAIT_##vprof_kind = 0xff0100 + (vprof_number),
  VPROF_WAIT_KINDS(VPROF_WAIT_EVENT)
#undef VPROF_WAIT_EVENT
  VPROF_EV_WAIT_LAST = 0xff01ff,
  /* clang-format on */

  /* Releases: word0 = time. + CONT {object, vprof_aux} + CONT {sequence, 0}. Recorded only if
   * somebody waits (RELEASE_APP: always). The number is that of the wait it ends, 0x100 higher. */
  VPROF_EV_RELEASE_FIRST = 0xff0200,
  VPROF_EV_RELEASE_MUTEX = 0xff0200,  /* ends MUTEX and OPENMP_LOCK waits */
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
  VPROF_EV_RELEASE_CHILD = 0xff0212, /* the process exits; recorded in any case */
  VPROF_EV_RELEASE_SEND = 0xff0213,  /* a read, which makes room: ends SEND and ROOM waits */
  VPROF_EV_RELEASE_FILE_LOCK = 0xff0217,
  VPROF_EV_RELEASE_LAST = 0xff02ff,

  /* Acquisitions without a wait while others wait: word0 = time. + CONT {object, vprof_aux}. With a
   * wait, its end is the acquisition. The number is that of the release, 0x100 higher. */
  VPROF_EV_ACQUIRE_FIRST = 0xff0300,
  VPROF_EV_ACQUIRE_MUTEX = 0xff0300,
  VPROF_EV_ACQUIRE_RWLOCK = 0xff0301, /* payload 1: for reading */
  VPROF_EV_ACQUIRE_SEM = 0xff0305,
  VPROF_EV_ACQUIRE_SPIN = 0xff030b,
  VPROF_EV_ACQUIRE_LAST = 0xff03ff
};

/* The name that reports show for a wait, by its event; a null pointer if the event is unknown. */
static inline const char* vprof_wait_function(uint32_t event) {
  switch (event) {
#define VPROF_WAIT_FUNCTION(vprof_kind, vprof_number, vprof_class, vprof_function, vprof_ended_by) \
  case VPROF_EV_WAIT_##vprof_kind:                                                                 \
    return vprof_function;
    VPROF_WAIT_KINDS(VPROF_WAIT_FUNCTION)
#undef VPROF_WAIT_FUNCTION
    default:
      return 0; /* NOLINT(modernize-use-nullptr): also C */
  }
}

/* The call behind a FILE wait, by its number; a null pointer if that is not known. */
static inline const char* vprof_file_call_name(uint32_t call) {
  switch (call) {
#define VPROF_FILE_CALL_NAME(vprof_call, vprof_number, vprof_name) \
  case VPROF_FILE_##vprof_call:                                    \
    return vprof_name;
    VPROF_FILE_CALLS(VPROF_FILE_CALL_NAME)
#undef VPROF_FILE_CALL_NAME
    default:
      return 0; /* NOLINT(modernize-use-nullptr): also C */
  }
}

/* What ended a wait, by its event. */
/* NOLINTBEGIN(bugprone-branch-clone): one branch for each row of the table */
static inline enum vprof_ended_by vprof_wait_ended_by(uint32_t event) {
  switch (event) {
#define VPROF_WAIT_ENDED_BY(vprof_kind, vprof_number, vprof_class, vprof_function, vprof_ended_by) \
  case VPROF_EV_WAIT_##vprof_kind:                                                                 \
    return VPROF_ENDED_BY_##vprof_ended_by;
    VPROF_WAIT_KINDS(VPROF_WAIT_ENDED_BY)
#undef VPROF_WAIT_ENDED_BY
    default:
      return VPROF_ENDED_BY_NOBODY;
  }
}
/* NOLINTEND(bugprone-branch-clone) */

/* Set in the ids that the runtime makes for intervals without a key; such an id is no pointer. */
#define VPROF_RUNTIME_ID (UINT64_C(1) << 62)

enum vprof_interval_flags {
  /* The id is valid within one process only (a pointer used as key), so readers qualify it by the
   * process. Without the flag all processes of a run share the id, as with vprof_begin(id). */
  VPROF_INTERVAL_PROCESS_LOCAL = 1,
  /* Of a SWITCH: a coroutine is suspended, or begins, or goes on, at the same time as a frame of
   * it. Bits 8..39 of the payload: 1 + where it was suspended (the index in sites.json
   * "suspensions"), or the coroutine that awaits it was; 0: nowhere. Of a BEGIN and END: the
   * interval is an execution of a coroutine, so threads leave it and resume it. */
  VPROF_INTERVAL_COROUTINE = 2
};
#define VPROF_SUSPENSION_SHIFT 8

/* vprof_aux: the 40-bit payload of the first continuation of a wait or release.
 *
 *   bit 0        the object is in memory shared between processes (match it across processes)
 *   bits 1..31   *_APP: index in sites.json "sync"; a FILE wait: enum vprof_file_call; else 0
 *   bit 32       of a wait: it timed out, so nobody ended it
 *   bit 33       of a COND wait: the thread has held the mutex since its last wait on this
 *                condition returned, so the two are turns of one loop
 *   bit 34       of a wait: it was in poll, select, epoll_wait or the like. Of a POLL and a ROOM
 *                wait, bits 1..31 are the descriptor that was ready, plus 1. A TIMER wait with this
 *                bit is one whose time limit passed, or for which a timerfd was ready.
 *   bit 35       the same, and it was an epoll_wait of any kind: the wait of an event loop
 *   bit 36       the same, and exactly one descriptor was ready
 *
 * The second continuation holds the sequence, and of a wait with bit 34 as its payload the time
 * limit of the call: microseconds plus 1, or VPROF_NO_LIMIT. 0: not known.
 *
 * Each object numbers its recorded releases. (Objects may share a counter; the numbers of one
 * object still only grow.) A release carries its own number, a wait the newest number when it
 * ended. So the release that ended wait W on object O is the one with the greatest sequence <=
 * W.sequence on O. For APP the sequence is 0: match by time.
 */
#define VPROF_SYNC_TASK 0xffffffu /* instead of an index: vprof_task_created, vprof_task_taken */
#define VPROF_AUX_SHARED 1ull
#define VPROF_AUX_SYNC_SHIFT 1
#define VPROF_AUX_TIMED_OUT (1ull << 32)
#define VPROF_AUX_AGAIN (1ull << 33)
#define VPROF_AUX_POLL (1ull << 34)
#define VPROF_AUX_EPOLL (1ull << 35)
#define VPROF_AUX_ONE_READY (1ull << 36)
#define VPROF_NO_LIMIT ((1ull << 40) - 1) /* none, or more than 12 days */
#define VPROF_AUX_DESCRIPTOR_SHIFT 1
/* In the number of intervals begun or resumed since a poll: this one was not ready with them. There
 * were as many as the poll found descriptors ready, or the thread has taken a task from a queue. */
#define VPROF_NO_BATCH (1ull << 39)

#define VPROF_LABEL_MAX 63u

enum vprof_clock { VPROF_CLOCK_TSC = 1, VPROF_CLOCK_MONOTONIC = 2, VPROF_CLOCK_CNTVCT = 3 };

/* Intervals that threads have begun, recorded or not: what a live search compares processor time
 * with. A cache line of its own. */
#define VPROF_BEGUN_COUNTS 48u
struct vprof_begun {
  uint64_t intervals;
  uint64_t reserved[7];
};

struct vprof_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t endian;     /* VPROF_TRACE_ENDIAN as the writer sees it */
  uint32_t slot_bytes; /* 16 */
  uint32_t clock;      /* enum vprof_clock */
  uint32_t pid;
  uint32_t parent_pid;
  /* The clock, CLOCK_MONOTONIC and CLOCK_REALTIME, read together when the file was made. */
  uint64_t start_ticks;
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t ticks_per_second; /* first estimate; CLOCK events refine it */
  uint64_t used;             /* bytes of the file that hold the header and chunks; grows; atomic */
  uint64_t capacity;         /* bytes reserved */
  /* What tracing cost and lost: atomic counters, for the report. */
  uint64_t chunks;            /* chunks taken by threads */
  uint64_t stalls;            /* times a thread had to prepare its chunk itself */
  uint64_t dropped;           /* slots that found no room */
  uint64_t threads;           /* threads that wrote */
  uint64_t record_ticks_x256; /* calibrated cost of one enabled scope, in ticks * 256 */
  uint64_t family;            /* the same in processes that fork from one another without exec */
  char program[256];          /* path of the executable, zero-terminated, truncated if longer */
  uint64_t classes;           /* enum vprof_class: the waits that were recorded */
  uint64_t archived;    /* full chunks that were written out so that their memory was reused */
  uint64_t overwritten; /* ring: slots of chunks that were reused */
  /* Preemption, if it is among the classes. */
  uint64_t switches_refused; /* errno: why context switches could not be read; 0: no refusal */
  uint64_t unwatched;        /* threads whose switches could not be read */
  uint64_t switches_lost;    /* records of context switches that found no room */
  uint64_t let_go;           /* threads no longer watched because they switched too often */
  /* Processor time of the process, in ns: of all its threads, the helper among them, when the file
   * was made and last (once a second, and at exit); of the helper alone. 0: not known. */
  uint64_t start_processor_ns;
  uint64_t processor_ns;
  uint64_t helper_ns;
  uint64_t call_ticks_x256; /* calibrated cost of the cheapest system call, in ticks * 256 */
  uint64_t set_up_ns;       /* processor time of the thread that started the recording, for that */
  uint8_t reserved[512 - 8 - 4 * 6 - 8 * 24 - 256];
  /* By thread_serial modulo their number: threads that share one may lose some. */
  struct vprof_begun begun[VPROF_BEGUN_COUNTS];
  uint8_t reserved_too[4096 - 512 - 64 * VPROF_BEGUN_COUNTS];
};

struct vprof_chunk_header {
  uint32_t magic;
  uint32_t bytes;         /* of the whole chunk, with this header; a multiple of VPROF_PAGE_BYTES */
  uint32_t thread_serial; /* 1, 2, ... in order of first record; 0: the helper thread */
  uint32_t tid;           /* the kernel's thread id */
  uint32_t index;         /* 0, 1, ... within the thread */
  uint32_t own_calls;     /* system calls of the runtime while this was the thread's chunk */
  uint64_t opened_ticks;
  char thread_name[16]; /* pthread name at that time */
  uint64_t next;        /* ring: address of the thread's next chunk; only the runtime uses it */
  uint64_t opened_processor_ns; /* the thread's processor time then; 0: unknown */
  uint32_t timed_calls; /* intercepted calls that were timed while this was the thread's chunk */
  uint32_t reserved[3];
};

#ifdef __cplusplus
static_assert(sizeof(struct vprof_slot) == 16, "layout is part of the format");
static_assert(sizeof(struct vprof_file_header) == VPROF_FILE_HEADER_BYTES,
              "layout is part of the format");
static_assert(sizeof(struct vprof_chunk_header) == 80, "layout is part of the format");
#else
_Static_assert(sizeof(struct vprof_slot) == 16, "layout is part of the format");
_Static_assert(sizeof(struct vprof_file_header) == VPROF_FILE_HEADER_BYTES,
               "layout is part of the format");
_Static_assert(sizeof(struct vprof_chunk_header) == 80, "layout is part of the format");
#endif

#endif
