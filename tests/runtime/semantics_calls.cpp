// Calls that libvprof times rather than tries first: what they return, and that they remain
// cancellation points.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>

#include "asleep.h"
#include "semantics.h"

namespace vprof::test {
namespace {

char buffer[1 << 17];
constexpr timespec kMillisecond{0, 1000000};
constexpr timespec kBad{0, 2000000000};

void sleeps() {
  std::printf("sleeps\n");
  row_of_call("  nanosleep", nanosleep(&kMillisecond, nullptr));
  row_of_call("  nanosleep, bad", nanosleep(&kBad, nullptr));
  row("  clock_nanosleep, bad", clock_nanosleep(CLOCK_MONOTONIC, 0, &kBad, nullptr));
  row("  clock_nanosleep, bad clock", clock_nanosleep(99, 0, &kMillisecond, nullptr));
  row_of_call("  usleep", usleep(1));
  row_of_call("  sleep", static_cast<long>(sleep(0)));
  row_of_call("  thrd_sleep", thrd_sleep(&kMillisecond, nullptr));
}

int initialised;
void once_and_barrier() {
  std::printf("once, barrier, spin, C11\n");
  pthread_once_t control = PTHREAD_ONCE_INIT;
  row("  once", pthread_once(&control, [] { ++initialised; }));
  row("  once again", pthread_once(&control, [] { ++initialised; }));
  row_of_call("  initialised", initialised);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 1);
  row_of_call("  barrier of one", pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
  pthread_spinlock_t spin;
  pthread_spin_init(&spin, 0);
  row("  spin lock", pthread_spin_lock(&spin));
  row("  spin trylock", pthread_spin_trylock(&spin));
  row("  spin unlock", pthread_spin_unlock(&spin));
  mtx_t mutex;
  mtx_init(&mutex, mtx_timed | mtx_recursive);
  row_of_call("  mtx_lock", mtx_lock(&mutex));
  row_of_call("  mtx_lock again", mtx_lock(&mutex));
  row_of_call("  mtx_unlock", mtx_unlock(&mutex));
  row_of_call("  mtx_unlock", mtx_unlock(&mutex));
  cnd_t condition;
  cnd_init(&condition);
  mtx_lock(&mutex);
  const timespec past{1, 0};
  row_of_call("  cnd_timedwait, past", cnd_timedwait(&condition, &mutex, &past));
  row_of_call("  cnd_signal", cnd_signal(&condition));
  mtx_unlock(&mutex);
#ifndef __SANITIZE_THREAD__  // does not know threads that are made like this, and crashes in them
  thrd_t thread{};
  int value = 0;
  row_of_call("  thrd_create", thrd_create(&thread, [](void*) { return 7; }, nullptr));
  row_of_call("  thrd_join", thrd_join(thread, &value));
  row_of_call("  its value", value);
#endif
}

void file_locks() {
  std::printf("file locks\n");
  const std::string path = "/tmp/vprof-semantics-" + std::to_string(getpid());
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  const int other = open(path.c_str(), O_RDWR);
  unlink(path.c_str());
  row_of_call("  flock", flock(fd, LOCK_EX));
  row_of_call("  flock, busy", flock(other, LOCK_SH | LOCK_NB));
  row_of_call("  flock, unlock", flock(fd, LOCK_UN));
  row_of_call("  flock, bad operation", flock(fd, 77));
  row_of_call("  flock, bad descriptor", flock(-1, LOCK_EX));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  row_of_call("  fcntl, lock of an open file", fcntl(fd, F_OFD_SETLKW, &lock));
  row_of_call("  fcntl, busy", fcntl(other, F_OFD_SETLK, &lock));
  row_of_call("  fcntl, no lock", fcntl(fd, F_SETLKW, nullptr));
  row_of_call("  fcntl, who has it", fcntl(other, F_OFD_GETLK, &lock));
  row_of_call("  its type", lock.l_type);
  row_of_call("  fcntl, a number", fcntl(fd, F_SETFD, FD_CLOEXEC));
  row_of_call("  fcntl, flags", fcntl(fd, F_GETFD));
  row_of_call("  close", close(fd));
  row_of_call("  lockf", lockf(other, F_LOCK, 1));
  row_of_call("  lockf, test", lockf(other, F_TEST, 1));
  row_of_call("  lockf, unlock", lockf(other, F_ULOCK, 1));
  row_of_call("  lockf, bad command", lockf(other, 77, 1));
  close(other);
}

void futex_and_sysv() {
  std::printf("futex, SysV\n");
  uint32_t word = 1;
  row_of_call("  futex wait, other value",
              syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0));
  row_of_call("  futex wait, limit",
              syscall(SYS_futex, &word, FUTEX_WAIT, 1, &kMillisecond, nullptr, 0));
  row_of_call("  futex wake", syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0));
  row_of_call("  futex, no such operation", syscall(SYS_futex, &word, 120, 0, nullptr, nullptr, 0));
  row_of_call("  another call", syscall(SYS_getpid) == getpid());
  row_of_call("  no such call", syscall(100000));
  const int semaphore = semget(IPC_PRIVATE, 1, 0600);
  sembuf down{0, -1, IPC_NOWAIT};
  row_of_call("  semop, at once", semop(semaphore, &down, 1));
  down.sem_flg = 0;
  row_of_call("  semtimedop, limit", semtimedop(semaphore, &down, 1, &kMillisecond));
  row_of_call("  semop, bad id", semop(-1, &down, 1));
  row_of_call("  semop, too many", semop(semaphore, nullptr, 1 << 20));
  row_of_call("  semctl SETVAL", semctl(semaphore, 0, SETVAL, 3));
  row_of_call("  semctl GETVAL", semctl(semaphore, 0, GETVAL));
  row_of_call("  semctl IPC_RMID", semctl(semaphore, 0, IPC_RMID));
  const int queue = msgget(IPC_PRIVATE, 0600);
  row_of_call("  msgrcv, at once", msgrcv(queue, buffer, 1, 0, IPC_NOWAIT));
  row_of_call("  msgsnd, bad type", msgsnd(queue, "\0\0\0\0\0\0\0\0", 0, 0));
  msgctl(queue, IPC_RMID, nullptr);
}

void streams() {
  std::printf("streams\n");
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (pipe2(ends, O_NONBLOCK) != 0) {
    return;
  }
  row_of_call("  read, nothing there", read(ends[0], buffer, 1));
  row_of_call("  read, wrong end", read(ends[1], buffer, 1));
  row_of_call("  write", write(ends[1], buffer, 3));
  row_of_call("  read", read(ends[0], buffer, 10));
  row_of_call("  recv of a pipe", recv(ends[0], buffer, 1, 0));
  row_of_call("  fsync of a pipe", fsync(ends[0]));
  row_of_call("  pread of a pipe", pread(ends[0], buffer, 1, 0));
  row_of_call("  write, full", (write(ends[1], buffer, 65536), write(ends[1], buffer, 1)));
  row_of_call("  dup2", dup2(ends[0], ends[0]) == ends[0]);
  row_of_call("  close", close(ends[0]));
  row_of_call("  close again", close(ends[0]));
  row_of_call("  write, nobody reads", write(ends[1], buffer, 1));
  close(ends[1]);
  row_of_call("  read, closed", read(ends[1], buffer, 1));
  row_of_call("  read, bad descriptor", read(-1, buffer, 1));
  row_of_call("  write, bad descriptor", write(1 << 30, buffer, 1));
  const int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in nobody{};
  nobody.sin_family = AF_INET;
  nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  nobody.sin_port = htons(1);
  row_of_call("  recv, not connected", recv(socket_fd, buffer, 1, 0));
  row_of_call("  accept, not listening", accept(socket_fd, nullptr, nullptr));
  row_of_call("  connect, refused",
              connect(socket_fd, reinterpret_cast<sockaddr*>(&nobody), sizeof nobody));
  close(socket_fd);
  const int event = eventfd(0, EFD_NONBLOCK);
  eventfd_t count = 0;
  row_of_call("  eventfd_read, nothing", eventfd_read(event, &count));
  row_of_call("  eventfd_write", eventfd_write(event, 5));
  row_of_call("  eventfd_read", eventfd_read(event, &count));
  row_of_call("  poll, limit", poll(nullptr, 0, 1));
  pollfd one{event, POLLOUT, 0};
  row_of_call("  poll, ready", poll(&one, 1, 0));
  row_of_call("  select, limit", [] {
    timeval limit{0, 1000};
    return select(0, nullptr, nullptr, nullptr, &limit);
  }());
  row_of_call("  select, bad", select(-1, nullptr, nullptr, nullptr, nullptr));
  const int epoll = epoll_create1(0);
  epoll_event found{};
  row_of_call("  epoll_wait, bad", epoll_wait(epoll, &found, 0, 0));
  row_of_call("  epoll_wait, none", epoll_wait(epoll, &found, 1, 0));
  row_of_call("  epoll_ctl, not in it", epoll_ctl(epoll, EPOLL_CTL_MOD, event, &found));
  row_of_call("  epoll_ctl", epoll_ctl(epoll, EPOLL_CTL_ADD, event, &found));
  row_of_call("  epoll_ctl, twice", epoll_ctl(epoll, EPOLL_CTL_ADD, event, &found));
  close(epoll);
  close(event);
}

void on_signal(int) {}

void signals_and_children() {
  std::printf("signals, children\n");
  row_of_call("  kill, nobody", kill(0x3fffff, 0));
  row_of_call("  kill, no such signal", kill(getpid(), 99));
  sigset_t none;
  sigemptyset(&none);
  row_of_call("  sigtimedwait, limit", sigtimedwait(&none, nullptr, &kMillisecond));
  row_of_call("  waitpid, no child", waitpid(-1, nullptr, 0));
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGALRM, &action, nullptr);
  int ends[2];
  if (pipe(ends) != 0) {
    return;
  }
  ualarm(2000, 2000);
  row_of_call("  read, interrupted", read(ends[0], buffer, 1));
  row_of_call("  pause, interrupted", pause());
  row_of_call("  poll, interrupted", poll(nullptr, 0, -1));
  ualarm(0, 0);
  close(ends[0]);
  close(ends[1]);
}

// ---- cancellation: each of these waits forever

int pipe_ends[2], full_pipe[2], pair[2], listener, epoll_fd, semaphore_id;
std::atomic<bool> cleaned;
std::atomic<int> waiter;  // its thread

struct Blocking {
  const char* name;
  void (*wait)();
};

const Blocking kBlocking[] = {
    {"read", [] { (void)!read(pipe_ends[0], buffer, 1); }},
    {"write", [] { (void)!write(full_pipe[1], buffer, sizeof buffer); }},
    {"recv", [] { recv(pair[0], buffer, 1, 0); }},
    {"recvfrom", [] { recvfrom(pair[0], buffer, 1, 0, nullptr, nullptr); }},
    {"accept", [] { accept(listener, nullptr, nullptr); }},
    {"poll", [] { poll(nullptr, 0, -1); }},
    {"select", [] { select(0, nullptr, nullptr, nullptr, nullptr); }},
    {"epoll_wait",
     [] {
       epoll_event event{};
       epoll_wait(epoll_fd, &event, 1, -1);
     }},
    {"nanosleep",
     [] {
       const timespec long_time{1000, 0};
       nanosleep(&long_time, nullptr);
     }},
    {"sleep", [] { sleep(1000); }},
    {"pause", [] { pause(); }},
    {"sigwait",
     [] {
       sigset_t set;
       int signal = 0;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR2);
       sigwait(&set, &signal);
     }},
    {"msgrcv", [] { msgrcv(semaphore_id, buffer, 1, 0, 0); }},
};

void* wait_forever(void* blocking) {
  pthread_cleanup_push([](void*) { cleaned = true; }, nullptr);
  waiter = this_thread();
  static_cast<const Blocking*>(blocking)->wait();
  pthread_cleanup_pop(0);
  return nullptr;
}

void cancellation() {
  std::printf("cancellation\n");
  epoll_fd = epoll_create1(0);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  semaphore_id = msgget(IPC_PRIVATE, 0600);
  if (pipe(pipe_ends) != 0 || pipe(full_pipe) != 0 || listen(listener, 1) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
    return;
  }
  for (const Blocking& blocking : kBlocking) {
    cleaned = false;
    waiter = 0;
    pthread_t thread{};
    pthread_create(&thread, nullptr, wait_forever, const_cast<Blocking*>(&blocking));
    while (waiter == 0) {
      rest_us(20);
    }
    // The sleeps among them cannot be told from a pause of the runtime.
    while (thread_state(task_directory(waiter)) != 'S') {
      rest_us(20);
    }
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    const std::string what = std::string("  ") + blocking.name;
    row_of_call(what.c_str(), result == PTHREAD_CANCELED && cleaned);
  }
  msgctl(semaphore_id, IPC_RMID, nullptr);
}

}  // namespace

void calls() {
  sleeps();
  once_and_barrier();
  file_locks();
  futex_and_sysv();
  streams();
  signals_and_children();
  // The sanitizers' own runtimes do not survive a thread that is cancelled in any of these calls.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  cancellation();
#else
  (void)cancellation;
#endif
}

}  // namespace vprof::test
