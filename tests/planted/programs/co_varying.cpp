// Two functions that co-vary: each does as much as the request is large, so their covariance is
// half of the variance, and the variance of each a quarter. A third one varies alone, less.
//
// interval: handle
// expect: first parse with render
#include "planted.h"

namespace {

uint32_t seed = 1;

struct Request {
  long size_us;
};

__attribute__((noinline)) void parse(const Request& request) { work_us(request.size_us); }

__attribute__((noinline)) void render(const Request& request) { work_us(request.size_us); }

__attribute__((noinline)) void log_request() { work_us(500 + draw(&seed) % 2000); }

}  // namespace

void handle(const Request& request) {
  parse(request);
  log_request();
  render(request);
}

int main() {
  for (int i = 0; i < 120; ++i) {
    handle({500 + static_cast<long>(draw(&seed) % 16000)});
  }
}
