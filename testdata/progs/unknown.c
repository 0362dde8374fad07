/* unknown: stacks in code of which nothing is known, and which was made to be hard to follow.
 *
 * Proves: what such stacks cost is bounded for all threads of a process together.
 *
 *   unknown THREADS FRAMES KIND
 *
 * The code is made at run time. The stacks are made, too: each thread changes to its own, of
 * frame records one beside the other, and every frame has a PC of its own that follows a call.
 * KIND is what the code is made of:
 *   f  forks: conditional jumps everywhere, with pushes and pops, and calls
 *   l  loops: few instructions, whose states change each time that control comes there
 *   s  straight: moves between registers and the stack, and calls
 *   t  tables: it is the program's own, and its FDE has a program of half a million instructions
 *
 * Build: gcc -O2 unknown.c
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "ready.h"

enum { unit = 16, size = 32 << 20 };

/* Calls, and before them all that there is to say of where the frame is. */
__asm__(".text\ntables: .cfi_startproc\n.cfi_def_cfa rbp,16\n.cfi_offset rbp,-16\n"
        ".rept 100000\n.cfi_escape 0x2e,0,0x2e,0,0x2e,0,0x2e,0,0x2e,0\n.endr\n"
        "syscall\n.rept 20000\ncall .+5\n.endr\n.cfi_endproc");
extern uint8_t tables[];
enum { calls = 20000 };

static uint8_t *code;
static uint32_t seed = 1;
static long frames;
static volatile long running;
static uint64_t pause_at;

static uint32_t rnd(void) {
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}

static void rel(uint8_t *at, int32_t to) { memcpy(at, &to, 4); }

/* Distance from a byte of a unit to the beginning of another one, within some KiB. */
static int32_t to(int from, int32_t lo, int32_t hi) {
    return (lo + (int32_t)(rnd() % (uint32_t)(hi - lo))) / unit * unit - from;
}

/* Each unit of 16 bytes begins with what KIND says, and ends with a call. */
static void make_unit(uint8_t *p, char kind) {
    static const uint8_t save[] = {0x48, 0x89, 0x44, 0x24}; /* mov [rsp+n],rax */
    memset(p, 0x90, unit);
    switch (kind) {
    case 'f':
        p[0] = 0x0f, p[1] = 0x80 + rnd() % 16, rel(p + 2, to(6, -40000, 40000));
        p[6] = (rnd() & 1 ? 0x50 : 0x58) + (rnd() % 4);
        break;
    case 'l':
        p[0] = 0x0f, p[1] = 0x80 + rnd() % 16, rel(p + 2, to(6, -2000, 2000));
        p[6] = rnd() % 4 ? 0x90 : 0x50; /* push rax: depths that differ, so that calls are blamed */
        break;
    case 's':
        memcpy(p, save, 4), p[2] |= rnd() % 8 << 3, p[4] = rnd() % 32 * 8;
        break;
    }
    p[11] = 0xe8, rel(p + 12, kind == 'l' ? to(16, -1200, -16) : to(16, -60000, -2000));
}

static void *thread(void *arg) {
    long n = (long)arg;
    uint64_t *stack = mmap(0, frames * 32 + (1 << 16), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *record = stack;
    for (long i = 0; i < frames; i++, record += 4) {
        uint64_t at = (uint64_t)(n * frames + i) * unit * 7 % (size - (1 << 20)) + (1 << 19);
        record[0] = i + 1 < frames ? (uint64_t)(record + 4) : 0;
        record[1] = i + 1 < frames ? (uint64_t)code + at / unit * unit : 0;
        if (code == tables && record[1])
            record[1] = (uint64_t)tables + 2 + 5 * (1 + (n * frames + i) % calls);
        record[2] = record[1] ^ 16 * (1 + rnd() % 1024);
        record[3] = record[1] ^ 16 * (1 + rnd() % 1024);
    }
    __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
    __asm__ volatile("mov %0, %%rsp; mov %0, %%rbp; jmp *%1" ::"S"(stack), "D"(pause_at), "a"(34) : "memory");
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    arm();
    long threads = number(argv[1]);
    frames = number(argv[2]);
    code = mmap(0, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long at = 0; at < size; at += unit)
        make_unit(code + at, argv[3][0]);
    pause_at = (uint64_t)code + 0x9000;
    memcpy((void *)pause_at, "\x0f\x05", 2); /* pause() */
    if (argv[3][0] == 't')
        code = tables, pause_at = (uint64_t)tables;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    for (long i = 0; i < threads; i++) {
        pthread_t t;
        if (pthread_create(&t, &attr, thread, (void *)i))
            return 3;
    }
    while (running < threads)
        usleep(1000);
    ready();
    block();
}
