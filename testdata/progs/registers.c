/* registers: loads objects, as a compiler at run time does, and tells debuggers of them
 * by GDB's JIT interface.
 *
 * Each argument is an object of made.c: a relocatable file, whose sections are spread over one
 * piece of memory, with an empty page between them, and whose headers are given the
 * addresses; or a program, which is loaded where it was linked to. The functions of
 * all objects then call each other, those of the first object outermost:
 *   main > run > first > second > third > first > ... > leaf > block
 *
 *   -m  the memory is a memfd's, not anonymous
 *   -u  each object was registered twice, and is unregistered once
 *   -r  a thread registers a copy of the last object and unregisters it, for ever
 *
 * With -DOBJECT='"PATH"' it is a guest, which has that object within it and loads it twice.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef OBJECT
#include "guest/guest.h"
__asm__(".data\n.balign 16\n.globl object, object_end\nobject:\n.incbin " "\"" OBJECT "\"\nobject_end:\n.text\n");
extern char object[], object_end[];
#else
#include "ready.h"
#endif
#include <string.h>
#include <unistd.h>

struct jit_code_entry {
    struct jit_code_entry *next_entry, *prev_entry;
    const char *symfile_addr;
    uint64_t symfile_size;
};

struct jit_descriptor {
    uint32_t version, action_flag;
    struct jit_code_entry *relevant_entry, *first_entry;
};

struct jit_descriptor __jit_debug_descriptor = {1, 0, 0, 0};

NOINLINE void __jit_debug_register_code(void) { __asm__ volatile(""); }

static struct jit_code_entry *enter(const char *object, uint64_t size) {
    struct jit_code_entry *e = calloc(1, sizeof *e);
    e->symfile_addr = object;
    e->symfile_size = size;
    e->next_entry = __jit_debug_descriptor.first_entry;
    if (e->next_entry)
        e->next_entry->prev_entry = e;
    __jit_debug_descriptor.first_entry = __jit_debug_descriptor.relevant_entry = e;
    __jit_debug_descriptor.action_flag = 1;
    __jit_debug_register_code();
    return e;
}

static void take_out(struct jit_code_entry *e) {
    if (e->prev_entry)
        e->prev_entry->next_entry = e->next_entry;
    else
        __jit_debug_descriptor.first_entry = e->next_entry;
    if (e->next_entry)
        e->next_entry->prev_entry = e->prev_entry;
    __jit_debug_descriptor.relevant_entry = e;
    __jit_debug_descriptor.action_flag = 2;
    __jit_debug_register_code();
    free(e);
}

union step {
    long (*call)(union step *next, long n);
};

static union step steps[64];
static int count, memfd = -1;

static char *memory(uintptr_t at, size_t size) {
    int flags = memfd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (at)
        flags |= MAP_FIXED_NOREPLACE;
    off_t off = 0;
    if (memfd >= 0) {
        off = lseek(memfd, 0, SEEK_END);
        if (ftruncate(memfd, off + size) || lseek(memfd, 0, SEEK_END) < 0)
            exit(4);
    }
    char *p = mmap((void *)at, size, PROT_READ | PROT_WRITE | PROT_EXEC, flags, memfd, off);
    if (p == MAP_FAILED)
        exit(5);
    return p;
}

static void load(char *object, size_t size, int again) {
    Elf64_Ehdr *eh = (Elf64_Ehdr *)object;
    Elf64_Shdr *sh = (Elf64_Shdr *)(object + eh->e_shoff);
    if (eh->e_type == ET_REL) {
        size_t room = 0;
        for (int i = 0; i < eh->e_shnum; i++)
            room += (sh[i].sh_size + 0x1fff) & ~0xfffUL;
        char *to = memory(0, room);
        for (int i = 0; i < eh->e_shnum; i++) {
            if (!(sh[i].sh_flags & SHF_ALLOC) || sh[i].sh_size == 0)
                continue;
            memcpy(to, object + sh[i].sh_offset, sh[i].sh_size);
            sh[i].sh_addr = (uintptr_t)to;
            __builtin___clear_cache(to, to + sh[i].sh_size);
            to += (sh[i].sh_size + 0x1fff) & ~0xfffUL;
        }
    } else {
        Elf64_Phdr *ph = (Elf64_Phdr *)(object + eh->e_phoff);
        for (int i = 0; i < eh->e_phnum; i++) {
            if (ph[i].p_type != PT_LOAD)
                continue;
            uintptr_t at = ph[i].p_vaddr & ~0xfffUL;
            memory(at, (ph[i].p_vaddr + ph[i].p_memsz - at + 0xfff) & ~0xfffUL);
            memcpy((void *)ph[i].p_vaddr, object + ph[i].p_offset, ph[i].p_filesz);
        }
    }
    static const char *const names[] = {"first", "second", "third"};
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < eh->e_shnum; i++) {
            if (sh[i].sh_type != SHT_SYMTAB)
                continue;
            Elf64_Sym *s = (Elf64_Sym *)(object + sh[i].sh_offset), *end = s + sh[i].sh_size / sizeof *s;
            for (; s < end; s++)
                if (strcmp(object + sh[sh[i].sh_link].sh_offset + s->st_name, names[n]) == 0)
                    steps[count++].call = (void *)(s->st_value + (eh->e_type == ET_REL ? sh[s->st_shndx].sh_addr : 0));
        }
    struct jit_code_entry *e = enter(object, size);
    if (again) {
        enter(object, size);
        take_out(e);
    }
}

#ifdef OBJECT
NOINLINE long leaf(union step *next, long n) {
    stop_here("registered");
    KEEP(n);
    return n;
}
#else
static char *last;
static size_t last_size;

static void load_file(const char *path, int again) {
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        exit(2);
    char *object = malloc(st.st_size);
    if (read(fd, object, st.st_size) != st.st_size)
        exit(3);
    close(fd);
    last = malloc(st.st_size);
    last_size = st.st_size;
    load(object, st.st_size, again);
    memcpy(last, object, st.st_size);
}

static void *restless(void *unused) {
    for (;;) {
        char *copies[8];
        struct jit_code_entry *entries[8];
        for (int i = 0; i < 8; i++) {
            copies[i] = malloc(last_size);
            memcpy(copies[i], last, last_size);
            entries[i] = enter(copies[i], last_size);
        }
        for (int i = 0; i < 8; i++) {
            take_out(entries[i]);
            memset(copies[i], 0x55, last_size);
            free(copies[i]);
        }
    }
    return unused;
}

NOINLINE long leaf(union step *next, long n) {
    ready();
    block();
    KEEP(n);
    return n;
}
#endif

NOINLINE long run(void) {
    long r = steps[0].call(steps + 1, 1);
    KEEP(r);
    return r;
}

int main(int argc, char **argv) {
#ifdef OBJECT
    static char second[1 << 16] __attribute__((aligned(16)));
    memcpy(second, object, object_end - object);
    load(object, object_end - object, 0);
    load(second, object_end - object, 0);
#else
    arm();
    int again = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-m") == 0)
            memfd = memfd_create("made", 0);
        else if (strcmp(argv[i], "-u") == 0)
            again = 1;
        else if (strcmp(argv[i], "-r") == 0) {
            pthread_t t;
            pthread_create(&t, 0, restless, 0);
        }
        else
            load_file(argv[i], again);
    }
#endif
    steps[count].call = leaf;
    return run() == 0;
}
