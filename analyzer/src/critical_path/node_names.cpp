#include "critical_path/node_names.h"

#include <fmt/format.h>

#include <string_view>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

std::string wait_function(uint32_t event) {
  switch (event) {
    case VPROF_EV_WAIT_MUTEX:
      return "pthread_mutex_lock";
    case VPROF_EV_WAIT_RDLOCK:
      return "pthread_rwlock_rdlock";
    case VPROF_EV_WAIT_WRLOCK:
      return "pthread_rwlock_wrlock";
    case VPROF_EV_WAIT_COND:
      return "pthread_cond_wait";
    case VPROF_EV_WAIT_JOIN:
      return "pthread_join";
    case VPROF_EV_WAIT_SEM:
      return "sem_wait";
    case VPROF_EV_WAIT_STREAM:
      return "read";
    case VPROF_EV_WAIT_POLL:
      return "poll";
    case VPROF_EV_WAIT_FILE:
      return "file I/O";
    case VPROF_EV_WAIT_TIMER:
      return "sleep";
    case VPROF_EV_WAIT_SPIN:
      return "pthread_spin_lock";
    case VPROF_EV_WAIT_BARRIER:
      return "pthread_barrier_wait";
    case VPROF_EV_WAIT_ONCE:
      return "pthread_once";
    case VPROF_EV_WAIT_FUTEX:
      return "futex";
    case VPROF_EV_WAIT_SYSV:
      return "semop";
    case VPROF_EV_WAIT_QUEUE:
      return "message queue";
    case VPROF_EV_WAIT_SIGNAL:
      return "signal";
    case VPROF_EV_WAIT_CHILD:
      return "waitpid";
    case VPROF_EV_WAIT_SEND:
      return "write";
    default:
      return fmt::format("#{}", event - VPROF_EV_WAIT_FIRST);
  }
}

std::string thread_role(const std::string& thread_name) {
  std::string role = thread_name;
  while (!role.empty() &&
         std::string_view("0123456789-_:#/. ").find(role.back()) != std::string_view::npos) {
    role.pop_back();
  }
  if (role.empty()) {
    role = "thread";
  }
  return role;
}

}  // namespace vprof::analyzer
