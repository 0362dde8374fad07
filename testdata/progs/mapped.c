/* mapped map: makes code that takes all of the time, made_code, and tells of it in /tmp/perf-PID.map, by the PID that it has itself.
   mapped dump FOLDER: tells of it in FOLDER/jit-PID.dump. It prints a line when the code runs, and goes on until it is killed. For amd64. */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* PUSH RBP; MOV RBP, RSP; 1: DEC RDI; JNZ 1b; POP RBP; RET */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};
static const char name[] = "made_code";

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void dump(const char *folder, unsigned char *at)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/jit-%d.dump", folder, getpid());
	FILE *f = fopen(path, "w+");
	uint32_t head[6] = {0x4a695444, 1, 40, EM_X86_64, 0, getpid()};
	uint64_t times[2] = {now(), 0};
	fwrite(head, 24, 1, f), fwrite(times, 16, 1, f);
	fflush(f);
	if (mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		exit(2);
	uint32_t load[2] = {0, 16 + 40 + sizeof name + sizeof code}, ids[2] = {getpid(), getpid()};
	uint64_t time = now(), where[4] = {(uintptr_t)at, (uintptr_t)at, sizeof code, 1};
	fwrite(load, 8, 1, f), fwrite(&time, 8, 1, f), fwrite(ids, 8, 1, f), fwrite(where, 32, 1, f);
	fwrite(name, sizeof name, 1, f), fwrite(code, sizeof code, 1, f);
	fflush(f);
}

int main(int argc, char **argv)
{
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(at, code, sizeof code);
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	if (argc == 3 && strcmp(argv[1], "dump") == 0) {
		dump(argv[2], at);
	} else {
		char path[64];
		snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
		FILE *f = fopen(path, "w");
		fprintf(f, "%lx %zx %s\n", (unsigned long)at, sizeof code, name);
		fclose(f);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		((void (*)(long))at)(100000000);
}
