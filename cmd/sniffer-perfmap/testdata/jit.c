/* jit FORMAT FOLDER [trap]: compiles three functions, of which outer calls middle and that
   inner; writes them down in FOLDER as FORMAT says: perf-PID.map (map) or jit-PID.dump
   (dump); calls outer, and blocks, or traps, in what inner calls.

   It prints "ready", and the CFAs of rest, which inner calls, and of run, which has called
   outer.  The compiled functions' frames have 32, 32 and 32 bytes on amd64, and 48, 16 and
   32 on arm64, the innermost first, with the return address.  middle sets up no frame
   record.  In the dump, inner's call is in line 12 of inner.x, and outer has been moved.  */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char inner_begin[], inner_call[], inner_back[], inner_end[], middle_begin[], middle_end[], outer_begin[], outer_end[];

/* The last word of each is what it calls.  */
__asm__ (".section .rodata\n"
	 ".globl inner_begin, inner_call, inner_back, inner_end, middle_begin, middle_end, outer_begin, outer_end\n"
	 ".balign 8\n"
#if defined __x86_64__
	 "inner_begin:\n"
	 "push %rbp\n"
	 "mov %rsp, %rbp\n"
	 "push %rbx\n"
	 "sub $8, %rsp\n"
	 "xor %ebx, %ebx\n"
	 "inner_call:\n"
	 "call *1f(%rip)\n"
	 "inner_back:\n"
	 "mov -8(%rbp), %rbx\n"
	 "leave\n"
	 "ret\n"
	 ".balign 8, 0xcc\n"
	 "1: .quad 0\n"
	 "inner_end:\n"
	 "middle_begin:\n"
	 "sub $24, %rsp\n"
	 "call *1f(%rip)\n"
	 "add $24, %rsp\n"
	 "ret\n"
	 ".balign 8, 0xcc\n"
	 "1: .quad 0\n"
	 "middle_end:\n"
	 "outer_begin:\n"
	 "push %rbp\n"
	 "mov %rsp, %rbp\n"
	 "sub $16, %rsp\n"
	 "call *1f(%rip)\n"
	 "add $16, %rsp\n"
	 "pop %rbp\n"
	 "ret\n"
	 ".balign 8, 0xcc\n"
	 "1: .quad 0\n"
	 "outer_end:\n"
#elif defined __aarch64__
	 "inner_begin:\n"
	 "sub sp, sp, #48\n"
	 "stp x29, x30, [sp, #16]\n"
	 "add x29, sp, #16\n"
	 "str x19, [sp]\n"
	 "mov x19, #0\n"
	 "ldr x16, 1f\n"
	 "inner_call:\n"
	 "blr x16\n"
	 "inner_back:\n"
	 "ldr x19, [sp]\n"
	 "ldp x29, x30, [sp, #16]\n"
	 "add sp, sp, #48\n"
	 "ret\n"
	 ".balign 8\n"
	 "1: .quad 0\n"
	 "inner_end:\n"
	 "middle_begin:\n"
	 "str x30, [sp, #-16]!\n"
	 "ldr x16, 1f\n"
	 "blr x16\n"
	 "ldr x30, [sp], #16\n"
	 "ret\n"
	 ".balign 8\n"
	 "1: .quad 0\n"
	 "middle_end:\n"
	 "outer_begin:\n"
	 "stp x29, x30, [sp, #-32]!\n"
	 "mov x29, sp\n"
	 "ldr x16, 1f\n"
	 "blr x16\n"
	 "ldp x29, x30, [sp], #32\n"
	 "ret\n"
	 ".balign 8\n"
	 "1: .quad 0\n"
	 "outer_end:\n"
#endif
	 ".previous\n");

static char *room;
static FILE *out;
static int dumps, traps;
static uint64_t number;
static void *run_cfa;

static void put32 (uint32_t v) { fwrite (&v, 4, 1, out); }
static void put64 (uint64_t v) { fwrite (&v, 8, 1, out); }
static void record (uint32_t kind, uint32_t size) { put32 (kind); put32 (16 + size); put64 (0); }

static void
header (void)
{
  put32 (0x4a695444); put32 (1); put32 (40);
#if defined __x86_64__
  put32 (62);
#elif defined __aarch64__
  put32 (183);
#endif
  put32 (0); put32 (getpid ()); put64 (0); put64 (0);
}

static void
load (uint64_t at, uint64_t size, const char *name)
{
  record (0, 40 + strlen (name) + 1 + size);
  put32 (getpid ()); put32 (getpid ()); put64 (at); put64 (at); put64 (size); put64 (number++);
  fwrite (name, strlen (name) + 1, 1, out);
  fwrite ((void *) at, size, 1, out);
}

static void
move (uint64_t from, uint64_t to, uint64_t size)
{
  record (1, 48);
  put32 (getpid ()); put32 (getpid ()); put64 (to); put64 (from); put64 (to); put64 (size); put64 (number - 1);
}

static void
lines (uint64_t at)
{
  record (2, 16 + 3 * 16 + sizeof "/src/inner.x" + 2 * 2);
  put64 (at); put64 (3);
  put64 (at); put32 (10); put32 (0); fwrite ("/src/inner.x", sizeof "/src/inner.x", 1, out);
  put64 (at + (inner_call - inner_begin)); put32 (12); put32 (0); fwrite ("\xff", 2, 1, out);
  put64 (at + (inner_back - inner_begin)); put32 (13); put32 (0); fwrite ("\xff", 2, 1, out);
}

static void *
compile (const char *name, const char *begin, const char *end, void *callee)
{
  char *at = room;
  memcpy (at, begin, end - begin);
  memcpy (at + (end - begin) - 8, &callee, 8);
  __builtin___clear_cache (at, at + (end - begin));
  room += (end - begin + 63) & ~63;
  uint64_t size = end - begin;
  if (!dumps)
    {
      /* Older code, which is gone, was where this is.  */
      fprintf (out, "%lx %x freed\n", (long) at - 8, 24);
      fprintf (out, "%lx %lx %s\n", (long) at, (long) size, name);
      return at;
    }
  if (begin == inner_begin)
    lines ((uint64_t) at);
  uint64_t elsewhere = (uint64_t) at + 2048;
  load (begin == outer_begin ? elsewhere : (uint64_t) at, size, name);
  if (begin == outer_begin)
    move (elsewhere, (uint64_t) at, size);
  return at;
}

__attribute__ ((noinline)) static void
rest (void)
{
  printf ("ready\n%p %p\n", __builtin_dwarf_cfa (), run_cfa);
  fflush (stdout);
  if (traps)
    __builtin_trap ();
  char c;
  while (read (0, &c, 1) > 0)
    ;
}

__attribute__ ((noinline)) static void
run (void (*code) (void))
{
  run_cfa = __builtin_dwarf_cfa ();
  code ();
  puts ("back");
}

int
main (int argc, char **argv)
{
  if (argc < 3)
    return 2;
  dumps = !strcmp (argv[1], "dump");
  traps = argc > 3;
  char path[4096];
  snprintf (path, sizeof path, dumps ? "%s/jit-%d.dump" : "%s/perf-%d.map", argv[2], getpid ());
  out = fopen (path, "w+");
  room = mmap (0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!out || room == MAP_FAILED)
    return 1;
  if (dumps)
    {
      header ();
      fflush (out);
      /* So that perf sees where the file is.  */
      if (mmap (0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno (out), 0) == MAP_FAILED)
	return 1;
    }
  room += 64;
  void *inner = compile ("inner", inner_begin, inner_end, rest);
  void *middle = compile ("middle", middle_begin, middle_end, inner);
  void *outer = compile ("outer", outer_begin, outer_end, middle);
  fclose (out);
  run (outer);
  return 0;
}
