// What a function for another processor returns in a vector register cannot pass through one of the
// runtime, which is for any.
// FLAGS: -std=c++11
#include <cstdio>

#if defined(__x86_64__)
#define FOR_AVX2 __attribute__((target("avx2")))
#else
#define FOR_AVX2
#endif

typedef long long four __attribute__((vector_size(32)));

static FOR_AVX2 four load(const long long* from) {
  four result = {};
  for (int i = 0; i < 4; ++i) result[i] = from[i];
  return result;
}

static FOR_AVX2 four sum(four a, four b) {
  for (int i = 0; i < 4; ++i) a[i] += b[i];
  return a;
}

static FOR_AVX2 int print(const long long* from) {
  // CHECK: four once = VPROF_{{(CALL_)?}}GUARD({{.*}}) load(from) VPROF_GUARD_END;
  four once = load(from);
  const four& kept = sum(once, once);
  // The innermost calls of one expression are measured where they enter.
  four twice = sum(load(from), kept);
  // CHECK: VPROF_CALL_VALUE({{.*}}) std::printf
  return std::printf("%lld %lld %lld %lld\n", twice[0], twice[1], twice[2], twice[3]);
}

int main() {
  const long long numbers[] = {1, 20, 300, 4000};
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) {
    return 0;
  }
#endif
  return print(numbers) > 0 ? 0 : 1;
}
