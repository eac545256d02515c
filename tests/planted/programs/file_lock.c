/* Two processes lock one file. The other one holds it for long now and then.
 *
 * interval: serve
 * expect: first vacuum
 * expect: share 0.8 1.1
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

static void change_lock(int file, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  if (fcntl(file, F_SETLKW, &lock) != 0) {
    exit(1);
  }
}

__attribute__((noinline)) static void vacuum(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

static void maintain(int file, int quit) {
  uint32_t state = 1;
  char byte;
  fcntl(quit, F_SETFL, O_NONBLOCK);
  while (read(quit, &byte, 1) != 0) {
    work_us(6000);
    change_lock(file, F_WRLCK);
    hold_begin();
    vacuum(2000 + (long)(draw(&state) % 8) * 1000);
    hold_end();
    change_lock(file, F_UNLCK);
  }
}

void serve(int file) {
  work_us(200);
  wait_begin();
  change_lock(file, F_WRLCK);
  wait_end();
  work_us(50);
  change_lock(file, F_UNLCK);
}

int main(void) {
  const int file = open("planted.lock", O_RDWR | O_CREAT, 0600);
  int quit[2];
  if (file < 0 || pipe(quit) != 0) {
    return 1;
  }
  const pid_t other = fork();
  if (other == 0) {
    close(quit[1]);
    maintain(file, quit[0]);
    exit(0);
  }
  uint32_t state = 2;
  for (int request = 0; request < 500; ++request) {
    request_begin();
    serve(file);
    request_end();
    work_us(500 + (long)(draw(&state) % 1000));
  }
  write_truth();
  close(quit[1]);
  int status = 0;
  waitpid(other, &status, 0);
  return status == 0 ? 0 : 1;
}
