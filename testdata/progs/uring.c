/* uring: has threads that the kernel runs for io_uring: one that polls a queue, and one that waits for a pipe.
 *
 * Prints "ready", or why there is no io_uring here.
 *
 * Proves: threads without a user stack.
 *   main > waits > block; iou-sqp-PID; iou-wrk-PID
 *
 * Build: gcc -g -O2 uring.c
 */
#define _GNU_SOURCE
#include "ready.h"
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

NOINLINE static void waits(void) {
    ready();
    block();
}

/* Makes a ring; poll says that a thread of the kernel's polls it. */
static int ring(unsigned poll, struct io_uring_params *p) {
    memset(p, 0, sizeof *p);
    p->flags = poll;
    p->sq_thread_idle = 50; /* milliseconds */
    int fd = (int)syscall(SYS_io_uring_setup, 4, p);
    if (fd < 0) {
        perror("io_uring_setup");
        _exit(2);
    }
    return fd;
}

/* Submits a read that a worker of the kernel's has to wait for. */
static void read_by_worker(int fd, const struct io_uring_params *p) {
    static char byte;
    int pipes[2];
    char *sq = mmap(NULL, p->sq_off.array + p->sq_entries * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
    struct io_uring_sqe *e = mmap(NULL, p->sq_entries * sizeof *e, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
    if (sq == MAP_FAILED || e == MAP_FAILED || pipe(pipes))
        _exit(3);
    memset(e, 0, sizeof *e);
    e->opcode = IORING_OP_READ;
    e->fd = pipes[0];
    e->addr = (uintptr_t)&byte;
    e->len = 1;
    e->flags = IOSQE_ASYNC;
    ((uint32_t *)(sq + p->sq_off.array))[0] = 0;
    __atomic_store_n((uint32_t *)(sq + p->sq_off.tail), 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) != 1)
        _exit(4);
}

int main(void) {
    struct io_uring_params p;
    arm();
    ring(IORING_SETUP_SQPOLL, &p);
    int fd = ring(0, &p);
    read_by_worker(fd, &p);
    waits();
    return 0;
}
