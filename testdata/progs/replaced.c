/* replaced dump FOLDER ROUNDS: makes code of alpha() and of beta() in turn, at one address, and runs each for 20 ms of its processor time.
   It tells of the code in FOLDER/jit-PID.dump (Linux's tools/perf/Documentation/jitdump-specification.txt), late: eight at a time.
   replaced gdb: makes code of the other function with each SIGUSR1, and tells of it by GDB's JIT interface.

   alpha() calls in_alpha(), beta() calls in_beta(), which take the time. The code keeps no frame pointer. For amd64. It prints a line when
   it runs. */
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static volatile unsigned long sink;

#define WORK(name)                                                                            \
	__attribute__((noipa)) void name(void)                                                \
	{                                                                                     \
		for (uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + 20000000; now(CLOCK_THREAD_CPUTIME_ID) < end;) \
			for (int i = 0; i < 20000; i++)                                       \
				sink += i;                                                    \
	}

WORK(in_alpha)
WORK(in_beta)

enum { SIZE = 21 };

/* SUB RSP, 40; MOV RAX, callee; CALL RAX; ADD RSP, 40; RET */
static void make(unsigned char *code, void (*callee)(void))
{
	static const unsigned char bytes[SIZE] = {0x48, 0x83, 0xec, 0x28, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x28, 0xc3};
	memcpy(code, bytes, SIZE);
	memcpy(code + 6, &callee, 8);
}

/* The unwind table, to lie behind the code, 8-aligned: (SIZE + 7) / 8 * 8 = 24 from its beginning. */
static const unsigned char table[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0, /* CIE: CFA is rsp+8, rip is at -8 */
	24, 0, 0, 0, 28, 0, 0, 0, 0xc8, 0xff, 0xff, 0xff, SIZE, 0, 0, 0, 0,             /* FDE: 56 before here */
	0x44, 0x0e, 48, 0x50, 0x0e, 8, 0, 0, 0, 0, 0,                                       /* from 4: 48; from 20: 8 */
	0, 0, 0, 0,
};

static FILE *dump;
static uint64_t number;

static void put(const void *p, size_t n) { fwrite(p, n, 1, dump); }

static void prefix(uint32_t kind, size_t rest)
{
	uint32_t head[2] = {kind, 16 + rest};
	uint64_t time = now(CLOCK_MONOTONIC);
	put(head, 8), put(&time, 8);
}

static void begin_dump(const char *folder)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/jit-%d.dump", folder, getpid());
	dump = fopen(path, "w+");
	setvbuf(dump, NULL, _IOFBF, 1 << 20);
	uint32_t head[6] = {0x4a695444, 1, 40, EM_X86_64, 0, getpid()};
	uint64_t more[2] = {now(CLOCK_MONOTONIC), 0};
	put(head, 24), put(more, 16);
	fflush(dump);
	if (mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(2);
}

static void write_dump(unsigned char *code, const char *name)
{
	char file[32];
	snprintf(file, sizeof file, "/src/%s.x", name);
	uint64_t debug[2] = {(uintptr_t)code, 2}, lines[2] = {(uintptr_t)code, (uintptr_t)code + 14};
	uint32_t numbers[2][2] = {{10, 0}, {11, 0}};
	prefix(2, 16 + 16 + strlen(file) + 1 + 16 + 2);
	put(debug, 16);
	put(&lines[0], 8), put(numbers[0], 8), put(file, strlen(file) + 1);
	put(&lines[1], 8), put(numbers[1], 8), put("\xff", 2);
	uint64_t unwinding[3] = {sizeof table, 0, 0};
	prefix(4, 24 + sizeof table);
	put(unwinding, 24), put(table, sizeof table);
	uint32_t ids[2] = {getpid(), getpid()};
	uint64_t load[4] = {(uintptr_t)code, (uintptr_t)code, SIZE, number++};
	prefix(0, 40 + strlen(name) + 1 + SIZE);
	put(ids, 8), put(load, 32), put(name, strlen(name) + 1), put(code, SIZE);
	if (number % 8 == 0)
		fflush(dump);
}

struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
} __jit_debug_descriptor = {1, 0, 0, 0};

__attribute__((noipa)) void __jit_debug_register_code(void) { __asm__ volatile(""); }

struct object {
	Elf64_Ehdr header;
	Elf64_Sym symbols[2];
	char names[64];
	unsigned char frames[sizeof table];
	Elf64_Shdr sections[6];
};

static void fill(struct object *o, unsigned char *code, const char *name)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.eh_frame";
	memset(o, 0, sizeof *o);
	memcpy(o->header.e_ident, ELFMAG "\2\1\1", 7);
	o->header.e_type = ET_DYN, o->header.e_machine = EM_X86_64, o->header.e_version = 1, o->header.e_ehsize = sizeof o->header;
	o->header.e_shoff = offsetof(struct object, sections), o->header.e_shentsize = sizeof(Elf64_Shdr), o->header.e_shnum = 5, o->header.e_shstrndx = 3;
	memcpy(o->names, names, sizeof names);
	strcpy(o->names + sizeof names, name);
	memcpy(o->frames, table, sizeof table);
	o->symbols[1] = (Elf64_Sym){sizeof names, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, (uintptr_t)code, SIZE};
	o->sections[1] = (Elf64_Shdr){1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, (uintptr_t)code, 0, SIZE, 0, 0, 1, 0};
	o->sections[2] = (Elf64_Shdr){7, SHT_SYMTAB, 0, 0, offsetof(struct object, symbols), sizeof o->symbols, 3, 1, 8, sizeof(Elf64_Sym)};
	o->sections[3] = (Elf64_Shdr){15, SHT_STRTAB, 0, 0, offsetof(struct object, names), sizeof o->names, 0, 0, 1, 0};
	o->sections[4] = (Elf64_Shdr){23, SHT_PROGBITS, SHF_ALLOC, (uintptr_t)code + 24, offsetof(struct object, frames), sizeof table, 0, 0, 8, 0};
}

/* One object is registered at a time. */
static void enter(struct jit_code_entry *e)
{
	__jit_debug_descriptor.first_entry = NULL;
	__jit_debug_descriptor.action_flag = 2;
	__jit_debug_register_code();
	__jit_debug_descriptor.relevant_entry = __jit_debug_descriptor.first_entry = e;
	__jit_debug_descriptor.action_flag = 1;
	__jit_debug_register_code();
}

static volatile sig_atomic_t asked;

static void ask(int signal) { asked = 1; }

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || code == MAP_FAILED)
		return 1;
	static struct object objects[2];
	static struct jit_code_entry entries[2];
	int dumps = strcmp(argv[1], "dump") == 0;
	if (dumps)
		begin_dump(argv[2]);
	signal(SIGUSR1, ask);
	fill(&objects[0], code, "alpha"), fill(&objects[1], code, "beta");
	for (int i = 0; i < 2; i++)
		entries[i].symfile_addr = (char *)&objects[i], entries[i].symfile_size = sizeof objects[i];
	puts("ready");
	fflush(stdout);
	for (int i = 0, rounds = dumps ? atoi(argv[3]) : 0; !dumps || rounds-- > 0; i ^= 1) {
		make(code, i ? in_beta : in_alpha);
		if (dumps)
			write_dump(code, i ? "beta" : "alpha");
		else
			enter(&entries[i]);
		do
			((void (*)(void))code)();
		while (!dumps && !asked);
		asked = 0;
	}
	return 0;
}
