// Five threads wait; the stacks of four lie in one mapping.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

volatile int ended, begun;

__attribute__((noinline)) static void wait_here(int n) {
  if (__sync_add_and_fetch(&begun, 1) == 5) {
    puts("ready");
    fflush(stdout);
  }
  for (;;)
    pause();
  ended += n;
}

__attribute__((noinline)) static void *work(void *n) {
  wait_here((int)(intptr_t)n);
  ended++;
  return 0;
}

int main(void) {
  const size_t size = 1 << 18;
  char *stacks = mmap(0, 4 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (intptr_t i = 0; i < 4; i++) {
    pthread_t thread;
    pthread_attr_t with;
    pthread_attr_init(&with);
    pthread_attr_setstack(&with, stacks + i * size, size);
    pthread_create(&thread, &with, work, (void *)i);
  }
  wait_here(9);
  return 0;
}
