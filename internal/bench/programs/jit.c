/* jit DEPTH FUNCTIONS: a stack of 2 * DEPTH frames in which functions of this file and
   functions of machine code that no file has take turns.  Writes a line when it is there,
   and waits.

   The machine code is FUNCTIONS copies of the one below, which keeps no frame pointer: only
   who knows of jit_regions can unwind it.  With BARE there is no C library, and DEPTH and
   FUNCTIONS are 6 and 3: for recorded processes, which end by a trap with TRAP.  */
#ifdef BARE
#define MOST 8
#else
#define MOST 100000
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#endif

/* Where each of the functions is, for who unwinds them; read by name.  */
unsigned long jit_regions[MOST][2], jit_count;

typedef void code (int depth, void (*next) (int));

extern const char jit_begin[], jit_end[];
__asm__ (".section .rodata\n"
	 ".globl jit_begin, jit_end\n"
	 ".balign 8\n"
	 "jit_begin:\n"
#if defined __x86_64__
	 "push %rbx\n"
	 "sub $32, %rsp\n"
	 "mov %rsp, %rbx\n"
	 "call *%rsi\n"
	 "add $32, %rsp\n"
	 "pop %rbx\n"
	 "ret\n"
#elif defined __aarch64__
	 "sub sp, sp, #48\n"
	 "stp x19, x30, [sp, #16]\n"
	 "mov x19, sp\n"
	 "blr x1\n"
	 "ldp x19, x30, [sp, #16]\n"
	 "add sp, sp, #48\n"
	 "ret\n"
#elif defined __s390x__
	 "stmg %r13, %r15, 104(%r15)\n"
	 "aghi %r15, -160\n"
	 "lgr %r13, %r15\n"
	 "basr %r14, %r3\n"
	 "lmg %r13, %r15, 264(%r15)\n"
	 "br %r14\n"
#endif
	 "jit_end:\n"
	 ".previous\n");

static int functions;

static void
wait_here (void)
{
#ifdef BARE
#ifdef TRAP
  __builtin_trap ();
#endif
  for (;;)
    ;
#else
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
#endif
}

__attribute__ ((noinline)) static void
down (int depth)
{
  if (depth == 0)
    wait_here ();
  ((code *) jit_regions[depth % functions][0]) (depth - 1, down);
  __asm__ volatile (""::"r" (depth):"memory");	/* not a tail call */
}

static void
begin (char *room, int depth)
{
  unsigned long size = jit_end - jit_begin, step = (size + 15) & ~15ul;
  for (int i = 0; i < functions; i++)
    {
      for (unsigned long j = 0; j < size; j++)
	((volatile char *) room)[i * step + j] = jit_begin[j];
      jit_regions[i][0] = (unsigned long) room + i * step;
      jit_regions[i][1] = (unsigned long) room + i * step + size;
    }
  jit_count = functions;
#ifndef __s390x__
  __builtin___clear_cache (room, room + functions * step);
#endif
  down (depth);
}

#ifdef BARE

/* mmap (0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) */
static char *
map (void)
{
#if defined __x86_64__
  long r;
  register long flags __asm__ ("r10") = 0x22, fd __asm__ ("r8") = -1, off __asm__ ("r9") = 0;
  __asm__ volatile ("syscall":"=a" (r):"a" (9), "D" (0), "S" (4096), "d" (7), "r" (flags), "r" (fd), "r" (off):"rcx", "r11", "memory");
  return (char *) r;
#elif defined __aarch64__
  register long r __asm__ ("x0") = 0, size __asm__ ("x1") = 4096, prot __asm__ ("x2") = 7, flags __asm__ ("x3") = 0x22;
  register long fd __asm__ ("x4") = -1, off __asm__ ("x5") = 0, n __asm__ ("x8") = 222;
  __asm__ volatile ("svc 0":"+r" (r):"r" (size), "r" (prot), "r" (flags), "r" (fd), "r" (off), "r" (n):"memory");
  return (char *) r;
#elif defined __s390x__
  unsigned long args[6] = { 0, 4096, 7, 0x22, -1, 0 };
  register unsigned long r __asm__ ("r2") = (unsigned long) args;
  __asm__ volatile ("svc 90":"+r" (r)::"memory");
  return (char *) r;
#endif
}

__attribute__ ((used, noinline)) static void
bare (void)
{
  functions = 3;
  begin (map (), 6);
}

__asm__ (".text\n"
	 ".globl _start\n"
	 ".type _start, %function\n"
	 "_start:\n"
	 ".cfi_startproc\n"
#if defined __x86_64__
	 ".cfi_undefined rip\n"
	 "xor %ebp, %ebp\n"
	 "and $-16, %rsp\n"
	 "call bare\n"
	 "hlt\n"
#elif defined __aarch64__
	 ".cfi_undefined x30\n"
	 "mov x29, #0\n"
	 "bl bare\n"
	 "brk #0\n"
#elif defined __s390x__
	 ".cfi_undefined %r14\n"
	 "lghi %r11, 0\n"
	 "aghi %r15, -160\n"
	 "brasl %r14, bare\n"
	 "j .\n"
#endif
	 ".cfi_endproc\n"
	 ".size _start, . - _start\n");

#else

int
main (int argc, char **argv)
{
  int depth = argc > 2 ? atoi (argv[1]) : 0;
  functions = argc > 2 ? atoi (argv[2]) : 0;
  if (depth < 1 || functions < 1 || functions > MOST)
    {
      fprintf (stderr, "usage: jit DEPTH FUNCTIONS\n");
      return 2;
    }
  prctl (PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* also where only a parent may attach */
  char *room = mmap (NULL, 32ul * functions, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    {
      perror ("mmap");
      return 1;
    }
  begin (room, depth);
  return 0;
}

#endif
