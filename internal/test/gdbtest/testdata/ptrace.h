// ptrace(2) with another way to read and write a thread's extended state, for a library that is loaded into a debugger.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { GETREGSET = 0x4204, SETREGSET = 0x4205, XSTATE = 0x202 };

static long state(int request, pid_t pid, struct iovec *v);

static long next(int request, pid_t pid, void *addr, void *data)
{
	static long (*f)(int, pid_t, void *, void *);
	if (!f)
		f = (long (*)(int, pid_t, void *, void *))dlsym(RTLD_NEXT, "ptrace");
	return f(request, pid, addr, data);
}

long ptrace(int request, ...)
{
	va_list list;
	va_start(list, request);
	pid_t pid = va_arg(list, pid_t);
	void *addr = va_arg(list, void *), *data = va_arg(list, void *);
	va_end(list);
	if ((request == GETREGSET || request == SETREGSET) && (long)addr == XSTATE)
		return state(request, pid, data);
	return next(request, pid, addr, data);
}
