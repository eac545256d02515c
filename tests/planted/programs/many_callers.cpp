// One function does what varies, under 24 callers that serve a request each in turn. No caller
// holds more than one part in 24 of the variance, which is below the threshold.
//
// interval: serve
// expect: first read_page
// expect: share 0.8 1.1
// expect: places 24
#include "planted.h"

namespace {

__attribute__((noinline)) void read_page(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) void login(long us) { read_page(us); }

__attribute__((noinline)) void logout(long us) { read_page(us); }

__attribute__((noinline)) void search(long us) { read_page(us); }

__attribute__((noinline)) void browse(long us) { read_page(us); }

__attribute__((noinline)) void basket(long us) { read_page(us); }

__attribute__((noinline)) void order(long us) { read_page(us); }

__attribute__((noinline)) void pay(long us) { read_page(us); }

__attribute__((noinline)) void refund(long us) { read_page(us); }

__attribute__((noinline)) void ship(long us) { read_page(us); }

__attribute__((noinline)) void track(long us) { read_page(us); }

__attribute__((noinline)) void rate(long us) { read_page(us); }

__attribute__((noinline)) void review(long us) { read_page(us); }

__attribute__((noinline)) void follow(long us) { read_page(us); }

__attribute__((noinline)) void block(long us) { read_page(us); }

__attribute__((noinline)) void invite(long us) { read_page(us); }

__attribute__((noinline)) void share(long us) { read_page(us); }

__attribute__((noinline)) void upload(long us) { read_page(us); }

__attribute__((noinline)) void download(long us) { read_page(us); }

__attribute__((noinline)) void rename(long us) { read_page(us); }

__attribute__((noinline)) void remove(long us) { read_page(us); }

__attribute__((noinline)) void archive(long us) { read_page(us); }

__attribute__((noinline)) void restore(long us) { read_page(us); }

__attribute__((noinline)) void dump(long us) { read_page(us); }

__attribute__((noinline)) void import_data(long us) { read_page(us); }

}  // namespace

void serve(int kind, long us) {
  switch (kind) {
    case 0:
      login(us);
      break;
    case 1:
      logout(us);
      break;
    case 2:
      search(us);
      break;
    case 3:
      browse(us);
      break;
    case 4:
      basket(us);
      break;
    case 5:
      order(us);
      break;
    case 6:
      pay(us);
      break;
    case 7:
      refund(us);
      break;
    case 8:
      ship(us);
      break;
    case 9:
      track(us);
      break;
    case 10:
      rate(us);
      break;
    case 11:
      review(us);
      break;
    case 12:
      follow(us);
      break;
    case 13:
      block(us);
      break;
    case 14:
      invite(us);
      break;
    case 15:
      share(us);
      break;
    case 16:
      upload(us);
      break;
    case 17:
      download(us);
      break;
    case 18:
      rename(us);
      break;
    case 19:
      remove(us);
      break;
    case 20:
      archive(us);
      break;
    case 21:
      restore(us);
      break;
    case 22:
      dump(us);
      break;
    default:
      import_data(us);
  }
}

int main() {
  for (int request = 0; request < 240; ++request) {
    request_begin();
    serve(request % 24, 500 + 1000 * (request / 24 % 10));  // the same times for each
    request_end();
  }
  write_truth();
}
