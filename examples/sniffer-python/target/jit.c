// A compiler of four instructions, for sniffer.py: what a just-in-time compiler leaves to
// whoever walks its stack. gcc -O2 -o jit jit.c
//
//	struct jit_code jit_table[]  what has been compiled; exported, so that it can be found
//	uint64_t jit_count           how much of it
//
// A compiled function takes its frame's size from memory, and keeps an address of data in
// rbp, which it saves at the inner end of its frame:
//
//	+0   sub  rsp, [rip+size]
//	+7   mov  [rsp], rbp
//	+11  lea  rbp, [rip+size]
//	+18  movabs rax, callee
//	+28  call rax
//	+30  mov  rbp, [rsp]
//	+34  add  rsp, [rip+size]
//	+41  ret
//	+48  size: .quad
//
// There is no unwind table, no frame pointer, and nothing in the code that says how large
// the frame is: jit_table alone has it.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct jit_code {
	uint64_t lo, hi;
	uint64_t frame; // bytes, without the return address
	char name[40];
} jit_table[8];
uint64_t jit_count;

static uint8_t *room;
static void *run_cfa;

static void *compile(const char *name, uint64_t frame, void *callee) {
	static const uint8_t code[] = {
		0x48, 0x2b, 0x25, 41, 0, 0, 0,             // 48-7
		0x48, 0x89, 0x2c, 0x24,
		0x48, 0x8d, 0x2d, 30, 0, 0, 0,             // 48-18
		0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xd0,
		0x48, 0x8b, 0x2c, 0x24,
		0x48, 0x03, 0x25, 7, 0, 0, 0,              // 48-41
		0xc3,
	};
	uint8_t *at = room;
	memcpy(at, code, sizeof code);
	memcpy(at + 20, &callee, 8);
	memcpy(at + 48, &frame, 8);
	room += 64;
	struct jit_code *c = &jit_table[jit_count++];
	c->lo = (uint64_t)at, c->hi = (uint64_t)at + 42, c->frame = frame;
	strncpy(c->name, name, sizeof c->name - 1);
	return at;
}

// What the compiled functions call in the end. It tells where run's frame is, as the
// compiler has it.
static void rest(void) {
	printf("ready\n%p\n", run_cfa);
	fflush(stdout);
	char c;
	while (read(0, &c, 1) > 0)
		;
}

__attribute__((noinline)) static void run(void (*code)(void)) {
	run_cfa = __builtin_dwarf_cfa();
	code();
	puts("back");
}

int main(void) {
	room = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return 1;
	void *inner = compile("inner", 40, rest);
	void *middle = compile("middle", 4104, inner);
	void *outer = compile("outer", 88, middle);
	run(outer);
	return 0;
}
