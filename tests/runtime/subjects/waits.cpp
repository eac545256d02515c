// One thread waits for something, and another ends the wait once the first sleeps. One scenario for
// each way to wait.
#include <vprof/runtime/scope.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../gate.h"
#include "subject.h"

using namespace vprof::test;

// A spinning thread does not sleep, so gate.c reports when it passes from the runtime into libc.
static std::atomic<bool> spins;
SUBJECT(waits_spin) {
  static pthread_spinlock_t lock;
  pthread_spin_init(&lock, 0);
  leaf();
  WaitTimes times;
  std::atomic<bool> held{false};
  std::thread thread([&] {
    pthread_spin_lock(&lock);
    held = true;
    until([] { return spins.load(); });
    times.asleep = vprof_ticks();
    rest_us(1000);
    times.woken = vprof_ticks();
    pthread_spin_unlock(&lock);
  });
  until([&] { return held.load(); });
  vprof_test_gate = [](const char* function, int) {
    spins = spins || std::strcmp(function, "pthread_spin_lock") == 0;
  };
  times.began = wait_begins();
  pthread_spin_lock(&lock);
  times.over = vprof_ticks();
  pthread_spin_unlock(&lock);
  thread.join();
  times.tell_all();
  return 0;
}

SUBJECT(waits_barrier) {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  return wait_for([] { pthread_barrier_wait(&barrier); }, [] { pthread_barrier_wait(&barrier); });
}

// The initialisation lasts until the thread that came second sleeps.
static std::atomic<bool> initialising, second_begins;
static std::atomic<int> second;
static WaitTimes times_of_second;
static void initialise() {
  initialising = true;
  until([] { return second_begins.load(); });
  see_asleep(times_of_second, task_directory(second));
}

template <class Once>
static int wait_for_initialisation(Once once) {
  leaf();
  second = this_thread();
  std::thread thread(once);
  until([] { return initialising.load(); });
  times_of_second.began = wait_begins();
  second_begins = true;
  once();
  times_of_second.over = vprof_ticks();
  thread.join();
  times_of_second.tell_all();
  return 0;
}

SUBJECT(waits_once) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  return wait_for_initialisation([] { pthread_once(&control, initialise); });
}

SUBJECT(waits_call_once) {
  static once_flag control = ONCE_FLAG_INIT;
  return wait_for_initialisation([] { call_once(&control, initialise); });
}

SUBJECT(waits_c11_mutex) {
  static mtx_t mutex;
  mtx_init(&mutex, mtx_timed);
  return wait_for_holder([] { mtx_lock(&mutex); },
                         [] {
                           mtx_lock(&mutex);
                           mtx_unlock(&mutex);
                         },
                         [] { mtx_unlock(&mutex); });
}

SUBJECT(waits_c11_condition) {
  static mtx_t mutex;
  static cnd_t condition;
  static bool ready = false;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  return wait_for(
      [] {
        mtx_lock(&mutex);
        while (!ready) {
          cnd_wait(&condition, &mutex);
        }
        mtx_unlock(&mutex);
      },
      [] {
        mtx_lock(&mutex);
        ready = true;
        cnd_signal(&condition);
        mtx_unlock(&mutex);
      });
}

SUBJECT(waits_c11_join) {
  leaf();
  second = this_thread();
  thrd_t thread{};
  thrd_create(
      &thread,
      [](void*) {
        until([] { return second_begins.load(); });
        see_asleep(times_of_second, task_directory(second));
        return 7;
      },
      nullptr);
  int value = 0;
  times_of_second.began = wait_begins();
  second_begins = true;
  thrd_join(thread, &value);
  times_of_second.over = vprof_ticks();
  times_of_second.tell_all();
  return value == 7 ? 0 : 1;
}

SUBJECT(waits_futex) {
  static std::atomic<uint32_t> word{0};
  return wait_for([] { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); },
                  [] {
                    word = 1;
                    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
                  });
}

// Each call waits for a millisecond, for what does not come.
SUBJECT(calls_that_give_up) {
  leaf();
  const timespec limit{0, 1000000};
  static uint32_t word = 0;
  int given_up = 0;
  const auto gave_up = [&](int64_t result, int error) {
    given_up += result == -1 && errno == error ? 1 : 0;
  };
  gave_up(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, nullptr, 0), ETIMEDOUT);

  int pair[2];
  const timeval of_socket{0, 1000};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
      setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &of_socket, sizeof of_socket) != 0 ||
      setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &of_socket, sizeof of_socket) != 0) {
    return 1;
  }
  char bytes[4096] = {};
  gave_up(recv(pair[0], bytes, sizeof bytes, 0), EAGAIN);
  gave_up(syscall(SYS_read, pair[0], bytes, sizeof bytes), EAGAIN);
  while (send(pair[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  gave_up(send(pair[0], bytes, sizeof bytes, 0), EAGAIN);
  gave_up(syscall(SYS_write, pair[0], bytes, sizeof bytes), EAGAIN);

  const int semaphore = semget(IPC_PRIVATE, 1, 0600);
  sembuf down{0, -1, 0};
  gave_up(semtimedop(semaphore, &down, 1, &limit), EAGAIN);
  semctl(semaphore, 0, IPC_RMID);

  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, nullptr);
  gave_up(sigtimedwait(&usr1, nullptr, &limit), EAGAIN);
  return given_up == 7 ? 0 : 1;
}

SUBJECT(waits_atomic) {
  static std::atomic<int> value{0};
  return wait_for([] { value.wait(0); },
                  [] {
                    value = 1;
                    value.notify_one();
                  });
}

SUBJECT(waits_future) {
  std::promise<int> promise;
  auto future = promise.get_future();
  return wait_for([&] { future.wait(); }, [&] { promise.set_value(1); });
}

SUBJECT(waits_shared_mutex) {
  static std::shared_timed_mutex mutex;
  return wait_for_holder([] { mutex.lock(); },
                         [] {
                           mutex.lock_shared();
                           mutex.unlock_shared();
                         },
                         [] { mutex.unlock(); });
}

SUBJECT(waits_sysv_semaphore) {
  const int id = semget(IPC_PRIVATE, 1, 0600);
  const int result = wait_for(
      [&] {
        sembuf down{0, -1, 0};
        semop(id, &down, 1);
      },
      [&] {
        sembuf up{0, 1, 0};
        semop(id, &up, 1);
      });
  semctl(id, 0, IPC_RMID);
  return result;
}

// What a lock of a file is taken and given back by.
struct LockedFile {
  int fd = -1, other = -1;  // opened separately
  explicit LockedFile(const char* name) {
    const std::string path = std::string("/tmp/vprof-test-") + name + std::to_string(getpid());
    fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    other = open(path.c_str(), O_RDWR);
    unlink(path.c_str());
  }
  ~LockedFile() {
    close(fd);
    close(other);
  }
};

SUBJECT(waits_flock) {
  LockedFile file("flock");
  return wait_for_holder([&] { flock(file.fd, LOCK_EX | LOCK_NB); },
                         [&] { flock(file.other, LOCK_SH); }, [&] { flock(file.fd, LOCK_UN); });
}

SUBJECT(waits_flock_closed) {
  LockedFile file("closed");
  return wait_for_holder([&] { flock(file.fd, LOCK_EX); }, [&] { flock(file.other, LOCK_EX); },
                         [&] {
                           close(file.fd);
                           file.fd = -1;
                         });
}

SUBJECT(waits_fcntl_lock) {
  LockedFile file("fcntl");
  struct flock lock{};
  lock.l_type = F_WRLCK;
  struct flock unlock = lock;
  unlock.l_type = F_UNLCK;
  // Of the open file, so threads of one process exclude each other.
  return wait_for_holder([&] { fcntl(file.fd, F_OFD_SETLK, &lock); },
                         [&] { fcntl(file.other, F_OFD_SETLKW, &lock); },
                         [&] { fcntl(file.fd, F_OFD_SETLK, &unlock); });
}

struct Message {
  long type;
  char text[8];
};
SUBJECT(waits_sysv_queue) {
  const int id = msgget(IPC_PRIVATE, 0600);
  const int result = wait_for(
      [&] {
        Message message{};
        msgrcv(id, &message, sizeof message.text, 0, 0);
      },
      [&] {
        const Message message{1, "x"};
        msgsnd(id, &message, sizeof message.text, 0);
      });
  msgctl(id, IPC_RMID, nullptr);
  return result;
}

SUBJECT(waits_posix_queue) {
  const std::string name = "/vprof-test-" + std::to_string(getpid());
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 8;
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &attributes);
  mq_unlink(name.c_str());
  if (queue < 0) {
    return 99;
  }
  return wait_for(
      [&] {
        char text[8];
        mq_receive(queue, text, sizeof text, nullptr);
      },
      [&] { mq_send(queue, "x", 1, 0); });
}

static char byte = 'x';

SUBJECT(waits_pipe) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  return wait_for([&] { return read(ends[0], &byte, 1); },
                  [&] { return write(ends[1], &byte, 1); });
}

// The other end is full until the reader takes something out.
static std::vector<char> filling(65536);
static void fill(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  while (write(fd, filling.data(), filling.size()) > 0) {
  }
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

template <class Writer>
static int wait_for_room(int from, int to, Writer writer) {
  fill(to);
  std::vector<char> drained(16 << 20);  // a socket wakes its writer once much of it is gone
  return wait_for([&] { writer(to); }, [&] { return read(from, drained.data(), drained.size()); });
}

SUBJECT(waits_full_pipe) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  return wait_for_room(ends[0], ends[1], [](int to) { return write(to, filling.data(), 4096); });
}

SUBJECT(waits_full_socket) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 4;
  }
  return wait_for_room(ends[0], ends[1], [](int to) { return send(to, filling.data(), 1, 0); });
}

// Nothing of the wait is known before a reader makes room but that it is for room.
template <class Poll>
static int poll_for_room(Poll poll_until_writable) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  return wait_for_room(ends[0], ends[1], poll_until_writable);
}

SUBJECT(waits_poll_for_room) {
  return poll_for_room([](int to) {
    pollfd waited{to, POLLOUT, 0};
    return poll(&waited, 1, -1);
  });
}

SUBJECT(waits_select_for_room) {
  return poll_for_room([](int to) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(to, &set);
    return select(to + 1, nullptr, &set, nullptr, nullptr);
  });
}

// The interest in room comes and goes, as in a server that asks for it only after a short write.
SUBJECT(waits_epoll_for_room) {
  return poll_for_room([](int to) {
    const int epoll = epoll_create1(0);
    epoll_event event{};
    event.data.u64 = 77;
    epoll_ctl(epoll, EPOLL_CTL_ADD, to, &event);
    event.events = EPOLLOUT;
    epoll_ctl(epoll, EPOLL_CTL_MOD, to, &event);
    return epoll_wait(epoll, &event, 1, -1);
  });
}

SUBJECT(waits_socket_for_room) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 4;
  }
  return wait_for_room(ends[0], ends[1], [](int to) {
    pollfd waited{to, POLLIN | POLLOUT, 0};
    return syscall(SYS_ppoll, &waited, 1, nullptr, nullptr, 8);
  });
}

SUBJECT(waits_raw_write) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  return wait_for_room(ends[0], ends[1],
                       [](int to) { return syscall(SYS_write, to, filling.data(), 4096); });
}

SUBJECT(waits_raw_read) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  return wait_for([&] { return syscall(SYS_read, ends[0], &byte, 1); },
                  [&] { return syscall(SYS_write, ends[1], &byte, 1); });
}

SUBJECT(waits_raw_poll) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  pollfd waited{ends[0], POLLIN, 0};
  return wait_for([&] { return syscall(SYS_ppoll, &waited, 1, nullptr, nullptr, 8); },
                  [&] { return write(ends[1], &byte, 1); });
}

// Nothing was asked of the ring, so only a signal ends this.
SUBJECT(waits_ring) {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  std::array<uint64_t, 32> parameters{};
  const long ring = syscall(SYS_io_uring_setup, 4, parameters.data());
  if (ring < 0) {
    return 99;
  }
  const pthread_t self = pthread_self();
  constexpr int kGetEvents = 1;
  return wait_for([&] { syscall(SYS_io_uring_enter, ring, 0, 1, kGetEvents, nullptr, 8); },
                  [&] { pthread_kill(self, SIGUSR1); });
}

SUBJECT(waits_socket_pair) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 4;
  }
  return wait_for([&] { return recv(ends[0], &byte, 1, 0); },
                  [&] { return send(ends[1], &byte, 1, 0); });
}

// Descriptor 4 once had no identity: its hash was 0.
SUBJECT(waits_eventfd) {
  const int fd = dup2(eventfd(0, 0), 4);
  return wait_for(
      [&] {
        eventfd_t value = 0;
        eventfd_read(fd, &value);
      },
      [&] { eventfd_write(fd, 1); });
}

// A listener and a connection to it.
static int listen_on_loopback(sockaddr_in& address) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), bytes) != 0 ||
      listen(listener, 1) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    return -1;
  }
  return listener;
}

SUBJECT(waits_tcp) {
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return 4;
  }
  const int server = accept(listener, nullptr, nullptr);
  return wait_for([&] { return read(server, &byte, 1); }, [&] { return write(client, &byte, 1); });
}

SUBJECT(waits_accept) {
  sockaddr_in address{};
  const int listener = listen_on_loopback(address);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  return wait_for(
      [&] { return accept(listener, nullptr, nullptr); },
      [&] { return connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address); });
}

// Such a descriptor never makes its thread wait, however long the call takes.
SUBJECT(slow_calls_that_never_wait) {
  leaf();
  const int fd = eventfd(0, EFD_NONBLOCK);
  vprof_test_gate = [](const char* function, int) {
    if (std::strncmp(function, "eventfd_", 8) == 0) {
      rest_us(1000);
    }
  };
  eventfd_t count = 0;
  const bool empty = eventfd_read(fd, &count) != 0;
  const bool passed = eventfd_write(fd, 2) == 0 && eventfd_read(fd, &count) == 0 && count == 2;
  vprof_test_gate = nullptr;
  return empty && passed ? 0 : 1;
}

// Nor does such a call.
SUBJECT(slow_calls_with_dontwait) {
  leaf();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 4;
  }
  vprof_test_gate = [](const char* function, int) {
    if (std::strcmp(function, "recv") == 0 || std::strcmp(function, "send") == 0) {
      rest_us(1000);
    }
  };
  const bool empty = recv(ends[0], &byte, 1, MSG_DONTWAIT) < 0;
  const bool passed =
      send(ends[1], &byte, 1, MSG_DONTWAIT) == 1 && recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1;
  vprof_test_gate = nullptr;
  return empty && passed ? 0 : 1;
}

static sigset_t blocked_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

SUBJECT(waits_signal) {
  const sigset_t set = blocked_signal();
  const pthread_t waiter = pthread_self();
  return wait_for(
      [&] {
        int signal = 0;
        sigwait(&set, &signal);
      },
      [&] { pthread_kill(waiter, SIGUSR1); });
}

SUBJECT(waits_signalfd) {
  const sigset_t set = blocked_signal();
  const int fd = signalfd(-1, &set, 0);
  signalfd_siginfo info{};
  return wait_for([&] { return read(fd, &info, sizeof info); }, [&] { kill(getpid(), SIGUSR1); });
}

// ---- waits that no release ends

// The wait lasts at least as long as its time limit.
template <class Waiter>
static int wait_for_limit(Waiter waiter) {
  leaf();
  const uint64_t began = wait_begins();
  waiter();
  tell("over", vprof_ticks());
  tell("began", began);
  tell("least_us", 1000);
  return 0;
}

SUBJECT(waits_sleep) {
  return wait_for_limit([] { usleep(1000); });
}

// Beside a thread that is busy on the same processor: sooner or later, it takes a while.
SUBJECT(waits_yield) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
    }
  });
  leaf();
  uint64_t began = 0;
  uint64_t ended = 0;
  for (auto took = std::chrono::nanoseconds(0); took < std::chrono::milliseconds(1);) {
    const auto start = std::chrono::steady_clock::now();
    began = wait_begins();
    sched_yield();
    ended = vprof_ticks();
    took = std::chrono::steady_clock::now() - start;
  }
  over = true;
  other.join();
  tell("over", ended);
  tell("began", began);
  tell("least_us", 1000);
  return 0;
}

SUBJECT(waits_raw_sleep) {
  return wait_for_limit([] {
    const timespec time{0, 1'000'000};
    syscall(SYS_nanosleep, &time, nullptr);
  });
}

SUBJECT(waits_poll_limit) {
  return wait_for_limit([] { poll(nullptr, 0, 1); });
}

// The timer would expire in an hour, but is set again once the reader sleeps.
SUBJECT(waits_timerfd) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec late{{0, 0}, {3600, 0}};
  timerfd_settime(fd, 0, &late, nullptr);
  return wait_for(
      [&] {
        uint64_t count = 0;
        return read(fd, &count, sizeof count);
      },
      [&] {
        const itimerspec now{{0, 0}, {0, 1}};
        timerfd_settime(fd, 0, &now, nullptr);
      });
}

template <class Wait>
static int wait_for_child(void (*leave)(int), Wait wait_for_it) {
  leaf();
  const std::string parent = "/proc/" + std::to_string(getpid());
  const uint64_t began = wait_begins();
  const pid_t child = fork();
  if (child == 0) {
    WaitTimes times;
    see_asleep(times, parent);
    tell("asleep", times.asleep);
    tell("woken", times.woken);
    leaf();  // it has a trace
    leave(0);
  }
  int status = 0;
  const pid_t ended = wait_for_it(child, &status);
  tell("over", vprof_ticks());
  tell("began", began);
  return ended == child ? status : 4;
}

SUBJECT(waits_child) {
  return wait_for_child(_exit, [](pid_t child, int* status) { return waitpid(child, status, 0); });
}

SUBJECT(waits_any_child) {
  return wait_for_child(std::exit, [](pid_t, int* status) { return wait(status); });
}

SUBJECT(waits_raw_child) {
  return wait_for_child(std::exit, [](pid_t child, int* status) {
    return static_cast<pid_t>(syscall(SYS_wait4, child, status, 0, nullptr));
  });
}

// A disk that takes a millisecond.
SUBJECT(waits_file) {
  FILE* file = tmpfile();
  if (file == nullptr) {
    return 4;
  }
  vprof_test_gate = [](const char* function, int is_over) {
    if (is_over == 0 && std::strcmp(function, "fsync") == 0) {
      rest_us(1000);
    }
  };
  return wait_for_limit([&] { fsync(fileno(file)); });
}
