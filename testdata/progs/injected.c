/* injected: FOLDER ROUNDS: makes functions at run time, tells of them in FOLDER/jit-PID.dump, and calls them.
 *
 * The functions differ in how they keep their frames: with a frame pointer, with room on the stack, with a saved
 * register, with nothing. None has an unwind table. Each calls the next one, in all orders, and the last one counts.
 *
 * Proves: code of a jitdump, and of the files that "perf inject --jit" makes of it: each has one function, which is its entry point.
 *   main > rounds > made > made > made > counts
 *
 * Build: gcc -O2 injected.c
 */
#define _GNU_SOURCE
#include "ready.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

/* Linux's tools/perf/Documentation/jitdump-specification.txt */
struct header {
    uint32_t magic, version, size, machine, pad, pid;
    uint64_t time, flags;
};
struct load {
    uint32_t id, size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, addr, code_size, index;
};

static FILE *dump;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void begin_dump(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, getpid());
    dump = fopen(path, "w+");
    if (!dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    struct header h = {0x4A695444, 1, sizeof h, 62 /* EM_X86_64 */, 0, (uint32_t)getpid(), now(), 0};
    fwrite(&h, sizeof h, 1, dump);
}

static void tell(const char *name, const void *code, size_t size) {
    static uint64_t index;
    struct load l = {0, (uint32_t)(sizeof l + strlen(name) + 1 + size), now(), (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)code, (uintptr_t)code, size, index++};
    fwrite(&l, sizeof l, 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, size, 1, dump);
    fflush(dump);
}

/* Each is called with the list of those behind it in rdi, whose first one it calls, and a number in rsi. */
static const struct {
    const char *name, *code;
    size_t size;
} made[] = {
#define CODE(name, bytes) {name, bytes, sizeof bytes - 1}
    /* push rbp; mov rbp, rsp; mov rax, [rdi]; add rdi, 8; call rax; pop rbp; ret */
    CODE("framed", "\x55\x48\x89\xe5\x48\x8b\x07\x48\x83\xc7\x08\xff\xd0\x5d\xc3"),
    /* sub rsp, 56; mov rax, [rdi]; add rdi, 8; call rax; add rsp, 56; ret */
    CODE("roomy", "\x48\x83\xec\x38\x48\x8b\x07\x48\x83\xc7\x08\xff\xd0\x48\x83\xc4\x38\xc3"),
    /* push rbx; mov rbx, rsi; mov rax, [rdi]; add rdi, 8; call rax; add rax, rbx; pop rbx; ret */
    CODE("saving", "\x53\x48\x89\xf3\x48\x8b\x07\x48\x83\xc7\x08\xff\xd0\x48\x01\xd8\x5b\xc3"),
    /* 1: dec rsi; jnz 1b; mov rax, rsi; ret */
    CODE("counts", "\x48\xff\xce\x75\xfb\x48\x89\xf0\xc3"),
};
enum { MADE = sizeof made / sizeof *made, COUNTS = MADE - 1, ROOM = 64, LOOPS = 3000000 };

NOINLINE static long rounds(char *code, int n) {
    long sum = 0;
    for (int round = 0; round < n; round++)
        for (int i = 0; i < COUNTS * COUNTS * COUNTS; i++) {
            void *list[] = {code + ROOM * (i / COUNTS % COUNTS), code + ROOM * (i / COUNTS / COUNTS), code + ROOM * COUNTS};
            long (*first)(void **, long) = (long (*)(void **, long))(code + ROOM * (i % COUNTS));
            sum += first(list, LOOPS);
        }
    return sum;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    arm();
    begin_dump(argv[1]);
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < MADE; i++) {
        memcpy(code + ROOM * i, made[i].code, made[i].size);
        tell(made[i].name, code + ROOM * i, made[i].size);
    }
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
        return 1;
    long sum = rounds(code, atoi(argv[2]));
    KEEP(sum);
    return 0;
}
