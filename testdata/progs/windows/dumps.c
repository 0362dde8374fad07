// A program of Windows that writes minidumps of itself, by the system's own MiniDumpWriteDump.
//
// The first argument is a folder. Of the others, a number says how many instructions of work() to go, and a letter how to
// crash at last. For each, a dump is written there, named by the argument, and notes: the exception, and the stacks as the system's own unwinder
// has them, of the thread that crashes and of two that rest.

#include <windows.h>
#include <dbghelp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLINE __attribute__((noinline))

static volatile unsigned sink;
static const char *folder, *name;

// What a thread that rests has noted: its ID, and the return addresses on its stack.
static struct resting {
  DWORD id;
  USHORT count;
  void *addresses[20];
} resting[2];

// note writes the stack from a context on. The context is a copy.
static void note(FILE *f, CONTEXT c) {
  for (int i = 0; i < 100 && (c.Rip || i == 0); i++) {
    DWORD64 base;
    RUNTIME_FUNCTION *function = RtlLookupFunctionEntry(c.Rip - (i > 0), &base, NULL);
    fprintf(f, "frame %llx\n", c.Rip);
    if (!function) { // a leaf
      c.Rip = *(DWORD64 *)c.Rsp;
      c.Rsp += 8;
      continue;
    }
    void *data;
    DWORD64 establisher;
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, c.Rip, function, &c, &data, &establisher, NULL);
  }
}

static void write_dump(EXCEPTION_POINTERS *p) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s\\%s.txt", folder, name);
  FILE *f = fopen(path, "w");
  if (!f)
    ExitProcess(3);
  fprintf(f, "thread %lx\nexception %lx %llx\n", GetCurrentThreadId(), p->ExceptionRecord->ExceptionCode, (DWORD64)p->ExceptionRecord->ExceptionAddress);
  for (DWORD i = 0; i < p->ExceptionRecord->NumberParameters; i++)
    fprintf(f, "parameter %llx\n", (DWORD64)p->ExceptionRecord->ExceptionInformation[i]);
  note(f, *p->ContextRecord);
  for (int i = 0; i < 2; i++) {
    fprintf(f, "rests %lx\n", resting[i].id);
    for (int k = 1; k < resting[i].count && resting[i].addresses[k]; k++) // the first one is in rests itself
      fprintf(f, "frame %llx\n", (DWORD64)resting[i].addresses[k]);
  }
  fclose(f);
  snprintf(path, sizeof path, "%s\\%s.dmp", folder, name);
  HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
  MINIDUMP_EXCEPTION_INFORMATION info = {GetCurrentThreadId(), p, FALSE};
  if (!MiniDumpWriteDump(GetCurrentProcess(), GetCurrentProcessId(), file, MiniDumpNormal, &info, NULL, NULL))
    ExitProcess(4);
  CloseHandle(file);
}

static long left = -1; // instructions to go

static LONG CALLBACK handler(EXCEPTION_POINTERS *p) {
  if (p->ExceptionRecord->ExceptionCode == EXCEPTION_SINGLE_STEP && left >= 0) {
    if (left-- > 0) {
      p->ContextRecord->EFlags |= 0x100;
    } else {
      write_dump(p);
    }
    return EXCEPTION_CONTINUE_EXECUTION;
  }
  if (left >= 0)
    return EXCEPTION_CONTINUE_SEARCH;
  write_dump(p);
  ExitProcess(0);
}

OUTLINE unsigned work_leaf(unsigned a, unsigned b) {
  for (unsigned i = 0; i < 3; i++)
    a = (a ^ b * 2654435761u) << 7 | a >> 25;
  return a + sink;
}

OUTLINE unsigned work_deep(unsigned depth, unsigned *out) {
  unsigned kept = work_leaf(depth, *out);
  if (depth > 0)
    *out += work_deep(depth - 1, &kept);
  return kept ^ *out;
}

OUTLINE unsigned work_alloca(unsigned n) {
  unsigned *p = __builtin_alloca((n % 40 + 1) * sizeof *p);
  for (unsigned i = 0; i <= n % 40; i++)
    p[i] = i ? p[i - 1] + work_leaf(i, n) : n;
  return p[n % 40];
}

OUTLINE unsigned work_big(unsigned n) {
  unsigned many[3000];
  many[n % 3000] = n;
  unsigned *last = &many[n % 3000];
  return work_deep(2, last) + *last;
}

OUTLINE unsigned work_aligned(unsigned n) {
  _Alignas(64) unsigned char line[128];
  memset(line, (int)n, sizeof line);
  sink = line[n % 128];
  return work_leaf(line[5], line[n % 128]);
}

OUTLINE double work_double(double x, double y, unsigned n) {
  double z = x * y;
  while (n-- > 0)
    z = z * 0.75 + x + work_leaf(n, (unsigned)y);
  return z;
}

static int compare(const void *a, const void *b) {
  unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  sink = work_leaf(x, y);
  return x < y ? -1 : x > y;
}

OUTLINE unsigned work_sort(unsigned n) {
  unsigned list[16];
  for (unsigned i = 0; i < 16; i++)
    list[i] = work_leaf(n, i);
  qsort(list, 16, sizeof *list, compare);
  return list[n % 16];
}

OUTLINE void work(unsigned i) {
  unsigned word = i;
  sink = work_deep(i % 5, &word) + work_big(i) + work_aligned(i) + work_alloca(i) + (unsigned)work_double(i, 3, 2) + work_sort(i);
}

static void (*nowhere)(void);

OUTLINE unsigned die(char how, unsigned n) {
  volatile unsigned many[50];
  many[n % 50] = n;
  switch (how) {
  case 'r': sink = *(volatile unsigned *)(uintptr_t)0x18; break;
  case 'w': *(volatile unsigned *)(uintptr_t)0x1c = n; break;
  case 'x': nowhere(); break;
  case 'd': sink = 5 / (many[n % 50] - n); break;
  case 'i': __builtin_trap(); break;
  case 'b': __debugbreak(); break;
  case 'e': RaiseException(0xe0000001, 0, 0, NULL); break;
  }
  return many[n % 50] + work_leaf(n, 2);
}

OUTLINE unsigned dies(char how, unsigned n) {
  char *room = __builtin_alloca(n);
  room[n / 2] = how;
  return die(room[n / 2], n) + work_leaf(n, 1);
}

static HANDLE waits;

static OUTLINE DWORD rests(struct resting *r) {
  r->id = GetCurrentThreadId();
  r->count = RtlCaptureStackBackTrace(0, 20, r->addresses, NULL);
  SetEvent(waits);
  Sleep(INFINITE);
  return r->id + sink;
}

static DWORD WINAPI thread(void *argument) {
  return rests(argument) + 1;
}

int main(int argc, char **argv) {
  folder = argv[1];
  waits = CreateEventA(NULL, FALSE, FALSE, NULL);
  for (int i = 0; i < 2; i++) {
    CreateThread(NULL, 0, thread, &resting[i], 0, NULL);
    WaitForSingleObject(waits, INFINITE);
  }
  AddVectoredExceptionHandler(1, handler);
  for (int i = 2; i < argc; i++) {
    name = argv[i];
    if (*name < '0' || *name > '9')
      return (int)dies(*name, 30);
    left = atol(name);
    __asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "memory", "cc"); // from now on, each instruction is an exception
    work((unsigned)i);
    __asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" ::: "memory", "cc");
    left = -1;
  }
  return 0;
}
