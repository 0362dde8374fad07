// gdb before release 14 writes the first 2696 bytes of a thread's extended state (NT_X86_XSTATE). Linux takes it whole, or
// refuses it with EFAULT: what follows is added as the thread has it.
#include "ptrace.h"

static long state(int request, pid_t pid, struct iovec *v)
{
	static char all[1 << 16];
	struct iovec whole = { all, sizeof all };
	if (request == GETREGSET || next(GETREGSET, pid, (void *)XSTATE, &whole) != 0 || v->iov_len >= whole.iov_len)
		return next(request, pid, (void *)XSTATE, v);
	memcpy(all, v->iov_base, v->iov_len);
	return next(request, pid, (void *)XSTATE, &whole);
}
