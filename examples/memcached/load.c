/* A closed-loop load on memcached that checks every reply.
 *
 *   load HOST PORT [REQUESTS [CONNECTIONS [PAUSE]]]
 *
 * Each connection has a thread of its own, which sends a request, waits for the whole reply, checks
 * it, and pauses (microseconds):
 *
 *   70 % get      one key; after a miss, a set follows, as in any user of a cache
 *   10 % get      2 to 50 keys at once
 *   12 % set
 *    3 % delete
 *    5 % incr     of a counter that belongs to this connection, so that its value is known
 *
 * All connections share the keys, of which low numbers are the most frequent. A value has 100 B to
 * 100 KB. Its size and its bytes follow from the key and from a version at its beginning, so every
 * value that is read back can be checked to the last byte, whoever wrote it. The exit status is 0
 * if all replies were right. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 6000, MAX_VALUE = 100 * 1024, MIN_VALUE = 100, HEADER = 40, MAX_KEYS_AT_ONCE = 50 };

struct connection {
  int number;
  int socket;
  uint64_t random;
  uint64_t requests; /* to send */
  long pause;        /* us, after each */
  uint64_t sent, failed, hits, misses, bytes;
  uint64_t counter; /* expected value of this connection's counter */
  bool broken;      /* the stream is out of step: nothing can be checked any more */
  char error[160];  /* the first failure */
  size_t begin, end;
  char input[64 * 1024];
  char output[HEADER + 512 + MAX_VALUE];
  char value[MAX_VALUE + 2], expected[MAX_VALUE];
};

static uint64_t next_random(struct connection* c) {
  c->random ^= c->random << 13;
  c->random ^= c->random >> 7;
  c->random ^= c->random << 17;
  return c->random;
}

static double uniform(struct connection* c) {
  return (double)(next_random(c) >> 11) / (double)(1ull << 53);
}

static unsigned skewed_key(struct connection* c) { return (unsigned)(KEYS * pow(uniform(c), 3.0)); }

static bool fail(struct connection* c, const char* what, const char* reply) {
  ++c->failed;
  if (c->error[0] == '\0') {
    snprintf(c->error, sizeof c->error, "%s: %.80s", what, reply);
  }
  return false;
}

/* --- values --- */

/* Sizes are log-uniform: most values are small, and most bytes are in large ones. */
static size_t value_size(unsigned key, unsigned version) {
  const uint32_t hash = (key * 2654435761u) ^ (version * 2246822519u);
  const double position = (hash >> 8) / 16777216.0;
  return (size_t)(MIN_VALUE * pow((double)MAX_VALUE / MIN_VALUE, position));
}

static size_t make_value(char* value, unsigned key, unsigned version) {
  const size_t size = value_size(key, version);
  memset(value, 'a' + (int)((key + version) % 26), size);
  char header[HEADER + 1];
  snprintf(header, sizeof header, "key %10u version %10u ", key, version);
  memcpy(value, header, strlen(header));
  for (size_t i = HEADER; i < size; i += 64) {
    value[i] = (char)('A' + (i / 64 + version) % 26);
  }
  return size;
}

/* Checks that the `size` bytes in c->value are a value of `key`. */
static bool check_value(struct connection* c, unsigned key, size_t size) {
  unsigned found_key, version;
  char header[HEADER + 1] = "";
  if (size >= MIN_VALUE) {
    memcpy(header, c->value, HEADER);
  }
  if (sscanf(header, "key %u version %u ", &found_key, &version) != 2 || found_key != key) {
    return fail(c, "value of another key", header);
  }
  if (size != value_size(key, version)) {
    return fail(c, "value of wrong size", header);
  }
  make_value(c->expected, key, version);
  return memcmp(c->value, c->expected, size) == 0 || fail(c, "damaged value", header);
}

/* --- the connection --- */

static bool broken(struct connection* c, const char* what, const char* detail) {
  c->broken = true;
  return fail(c, what, detail);
}

static bool send_all(struct connection* c, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = send(c->socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return broken(c, "cannot send", strerror(errno));
    }
    data += sent;
    size -= (size_t)sent;
    c->bytes += (size_t)sent;
  }
  return true;
}

static bool fill(struct connection* c) {
  ssize_t got;
  if (c->begin == c->end) {
    c->begin = c->end = 0;
  }
  do {
    got = recv(c->socket, c->input + c->end, sizeof c->input - c->end, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    return broken(c, "cannot receive", got == 0 ? "connection closed" : strerror(errno));
  }
  c->end += (size_t)got;
  c->bytes += (size_t)got;
  return true;
}

static bool read_line(struct connection* c, char* line, size_t room) {
  size_t length = 0;
  for (;;) {
    if (c->begin == c->end && !fill(c)) {
      return false;
    }
    const char byte = c->input[c->begin++];
    if (byte == '\n') {
      break;
    }
    if (length + 1 == room) {
      return broken(c, "reply line too long", "");
    }
    line[length++] = byte;
  }
  if (length > 0 && line[length - 1] == '\r') {
    --length;
  }
  line[length] = '\0';
  return true;
}

static bool read_bytes(struct connection* c, char* to, size_t size) {
  while (size > 0) {
    if (c->begin == c->end && !fill(c)) {
      return false;
    }
    const size_t part = c->end - c->begin < size ? c->end - c->begin : size;
    memcpy(to, c->input + c->begin, part);
    c->begin += part;
    to += part;
    size -= part;
  }
  return true;
}

/* Sends c->output and receives one line. */
static bool ask(struct connection* c, size_t size, char* reply, size_t room) {
  ++c->sent;
  return send_all(c, c->output, size) && read_line(c, reply, room);
}

static bool is(const char* reply, const char* one, const char* other) {
  return strcmp(reply, one) == 0 || strcmp(reply, other) == 0;
}

/* --- requests --- */

static void set(struct connection* c, unsigned key) {
  const unsigned version = (unsigned)(next_random(c) % 1000);
  char reply[256];
  size_t size = (size_t)sprintf(c->output, "set key:%u 0 0 %zu\r\n", key, value_size(key, version));
  size += make_value(c->output + size, key, version);
  memcpy(c->output + size, "\r\n", 2);
  if (ask(c, size + 2, reply, sizeof reply) && strcmp(reply, "STORED") != 0) {
    fail(c, "set", reply);
  }
}

/* Asks for `count` keys, checks the reply and marks the keys found in `found`. */
static void get(struct connection* c, const unsigned* keys, int count, bool* found) {
  char line[256], end;
  size_t size = (size_t)sprintf(c->output, "get");
  for (int i = 0; i < count; ++i) {
    size += (size_t)sprintf(c->output + size, " key:%u", keys[i]);
  }
  size += (size_t)sprintf(c->output + size, "\r\n");
  memset(found, 0, sizeof(bool) * (size_t)count);
  if (!ask(c, size, line, sizeof line)) {
    return;
  }
  int next = 0; /* values come in the order of the request */
  while (strcmp(line, "END") != 0) {
    unsigned key, flags;
    size_t length;
    if (sscanf(line, "VALUE key:%u %u %zu%c", &key, &flags, &length, &end) != 3 ||
        length > MAX_VALUE) {
      broken(c, "get", line);
      return;
    }
    while (next < count && keys[next] != key) {
      ++next;
    }
    if (next == count) {
      fail(c, "a key that was not asked for", line);
    } else {
      found[next++] = true;
    }
    if (!read_bytes(c, c->value, length + 2)) {
      return;
    }
    if (memcmp(c->value + length, "\r\n", 2) != 0) {
      broken(c, "value without an end", line);
      return;
    }
    check_value(c, key, length);
    if (!read_line(c, line, sizeof line)) {
      return;
    }
  }
  for (int i = 0; i < count; ++i) {
    ++*(found[i] ? &c->hits : &c->misses);
  }
}

static void get_one(struct connection* c) {
  const unsigned key = skewed_key(c);
  bool found;
  get(c, &key, 1, &found);
  if (!found && !c->broken) {
    set(c, key);
  }
}

static void get_many(struct connection* c) {
  unsigned keys[MAX_KEYS_AT_ONCE];
  bool found[MAX_KEYS_AT_ONCE];
  const int count = 2 + (int)(next_random(c) % (MAX_KEYS_AT_ONCE - 1));
  for (int i = 0; i < count; ++i) {
    keys[i] = skewed_key(c);
  }
  get(c, keys, count, found);
}

static void delete(struct connection* c) {
  char reply[256];
  const size_t size = (size_t)sprintf(c->output, "delete key:%u\r\n", skewed_key(c));
  if (ask(c, size, reply, sizeof reply) && !is(reply, "DELETED", "NOT_FOUND")) {
    fail(c, "delete", reply);
  }
}

/* If the counter has been evicted, it starts again from 0. */
static void incr(struct connection* c) {
  char reply[256], expected[32];
  const unsigned step = 1 + (unsigned)(next_random(c) % 9);
  size_t size = (size_t)sprintf(c->output, "incr counter:%d %u\r\n", c->number, step);
  if (!ask(c, size, reply, sizeof reply)) {
    return;
  }
  if (strcmp(reply, "NOT_FOUND") == 0) {
    c->counter = 0;
    size = (size_t)sprintf(c->output, "add counter:%d 0 0 1\r\n0\r\n", c->number);
    if (ask(c, size, reply, sizeof reply) && strcmp(reply, "STORED") != 0) {
      fail(c, "add", reply);
    }
    return;
  }
  c->counter += step;
  snprintf(expected, sizeof expected, "%" PRIu64, c->counter);
  if (strcmp(reply, expected) != 0) {
    fail(c, "incr", reply);
    c->counter = strtoull(reply, NULL, 10);
  }
}

static void* run_connection(void* argument) {
  struct connection* c = argument;
  while (c->sent < c->requests && !c->broken) {
    const unsigned dice = (unsigned)(next_random(c) % 100);
    if (dice < 70) {
      get_one(c);
    } else if (dice < 80) {
      get_many(c);
    } else if (dice < 92) {
      set(c, skewed_key(c));
    } else if (dice < 95) {
      delete (c);
    } else {
      incr(c);
    }
    if (c->pause > 0) {
      const struct timespec pause = {c->pause / 1000000, c->pause % 1000000 * 1000};
      nanosleep(&pause, NULL);
    }
  }
  close(c->socket);
  return NULL;
}

/* --- the threads --- */

static int connect_to(const char* host, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
      connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
    return -1;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const char* host = argc > 1 ? argv[1] : "";
  const int port = argc > 2 ? atoi(argv[2]) : 0;
  const long requests = argc > 3 ? atol(argv[3]) : 200000;
  const int connections = argc > 4 ? atoi(argv[4]) : 6;
  const long pause = argc > 5 ? atol(argv[5]) : 0;
  if (port <= 0 || requests <= 0 || connections <= 0 || pause < 0 || argc > 6) {
    fprintf(stderr, "usage: load HOST PORT [REQUESTS [CONNECTIONS [PAUSE]]]\n");
    return 2;
  }
  struct connection* all = calloc((size_t)connections, sizeof *all);
  pthread_t* threads = calloc((size_t)connections, sizeof *threads);
  if (all == NULL || threads == NULL) {
    fprintf(stderr, "load: out of memory\n");
    return 2;
  }
  for (int i = 0; i < connections; ++i) {
    all[i].number = i;
    all[i].random = 0x9e3779b97f4a7c15ull * (uint64_t)(i + 1);
    all[i].requests = (uint64_t)(requests / connections + (i < requests % connections));
    all[i].pause = pause;
    all[i].socket = connect_to(host, port);
    if (all[i].socket < 0) {
      fprintf(stderr, "load: cannot connect to %s:%d: %s\n", host, port, strerror(errno));
      return 2;
    }
  }
  const double start = seconds();
  for (int i = 0; i < connections; ++i) {
    pthread_create(&threads[i], NULL, run_connection, &all[i]);
  }
  struct connection sum = {.number = 0};
  for (int i = 0; i < connections; ++i) {
    pthread_join(threads[i], NULL);
    sum.sent += all[i].sent;
    sum.failed += all[i].failed;
    sum.hits += all[i].hits;
    sum.misses += all[i].misses;
    sum.bytes += all[i].bytes;
    if (all[i].failed > 0) {
      fprintf(stderr, "load: connection %d: %s\n", i, all[i].error);
    }
  }
  const double took = seconds() - start;
  printf("%" PRIu64 " requests in %.1f s (%.0f/s, %.0f MB/s), %.1f %% of keys found, %" PRIu64
         " failed\n",
         sum.sent, took, (double)sum.sent / took, (double)sum.bytes / took / 1e6,
         100.0 * (double)sum.hits / (double)(sum.hits + sum.misses + (sum.hits + sum.misses == 0)),
         sum.failed);
  free(all);
  free(threads);
  return sum.failed == 0 && sum.sent >= (uint64_t)requests ? 0 : 1;
}
