#include <vprof/runtime/scope.h>
#line 1
/* An instrumented C file in the strictest dialect. The user's feature macros come after our
 * header. */
#define _GNU_SOURCE 1
#include <stddef.h>
#include <string.h>

/* Names that must not break generated code. */
#define id 1
#define start 2
#define key 3
#define unused 4
#define cleanup 5
#define BEGIN 6
#define END 7
#define SWITCH 8

struct item {
  int number;
  const char* name;
  unsigned char* bytes;
};

int plain(int x);
int plain(int x) {
  VPROF_FUNCTION(1);
  return x + 1;
}

int declares(int x);
int declares(int x) {
  VPROF_INTERVAL(0);
  VPROF_ACQUIRE(1, &x);
  VPROF_EXIT_EVENT(END, 0, x);
  VPROF_ENTRY_EVENT(BEGIN, 0, x);
  VPROF_FUNCTION(2);
  int y = 1;
  char text[4];
  memset(text, 0, sizeof text);
  {
    VPROF_SITE(3);
    plain(x);
  }
  y = VPROF_EXPR(4) plain(x) VPROF_EXPR_END +
      VPROF_EXPR(5) plain(VPROF_EXPR(6) plain(y) VPROF_EXPR_END) VPROF_EXPR_END;
  if (VPROF_EXPR(7) plain(y) VPROF_EXPR_END) {
    y += 1;
  }
  VPROF_EXPR(8)(void) plain(y) VPROF_EXPR_END;
  return VPROF_EXPR(9) plain(__LINE__ - 34) VPROF_EXPR_END + y + text[0];
}

void events(struct item* it, long number);
void events(struct item* it, long number) {
  VPROF_EXIT_EVENT(SWITCH, 1, number);
  VPROF_EXIT_EVENT(END, 1, it);
  VPROF_ENTRY_EVENT(SWITCH, 2, it->number);
  VPROF_ENTRY_LABEL(0, it, it->name);
  VPROF_ENTRY_LABEL_CURRENT(1, it->bytes);
  VPROF_ENTRY_LABEL(2, it, it->number);
  VPROF_ENTRY_LABEL_CURRENT(3, number);
  VPROF_RELEASE(0, it);
  VPROF_ENQUEUE(1, it);
  VPROF_ENTRY_DEQUEUE(3, it);
  VPROF_FUNCTION(10);
  struct item copy = *it;
  if (number > 0) {
    VPROF_SITE(11);
    events(&copy, number - 1);
  } else {
    VPROF_EVENT(END, 0, it);
  }
  VPROF_DEQUEUE(2, it);
}

/* The C++ forms in a header that C shares. */
int shared_with_cpp(int x);
int shared_with_cpp(int x) {
  VPROF_FUNCTION_N(12, 3);
  int y = VPROF_VALUE(0, 13) plain(x) VPROF_VALUE_END(0);
  VPROF_VOID(1, 14) events(NULL, -1) VPROF_VOID_END(1, 14);
  y += VPROF_VALUE(2, 15) plain(x) VPROF_VALUE_END(2);
  return y + VPROF_GUARD(16) plain(x) VPROF_GUARD_END;
}

int only_slots(void);
int only_slots(void) {
  VPROF_FRAME_N(2);
  int y = VPROF_VALUE(0, 17) plain(1) VPROF_VALUE_END(0);
  return y;
}
