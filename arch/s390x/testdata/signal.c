/* Runs a handler of each kind, with known values in all registers. */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

void handler(int sig) { __asm__ volatile("" ::: "memory"); }
void info_handler(int sig, siginfo_t *info, void *context) { __asm__ volatile("" ::: "memory"); }

extern void raise_with_registers(long pid, long sig, const long *fill);
__asm__(".globl raise_with_registers\n.type raise_with_registers,@function\nraise_with_registers:\n"
	"stmg %r6,%r15,48(%r15)\n"
	"lay %r15,-320(%r15)\n"
	"std %f8,160(%r15)\nstd %f9,168(%r15)\nstd %f10,176(%r15)\nstd %f11,184(%r15)\n"
	"std %f12,192(%r15)\nstd %f13,200(%r15)\nstd %f14,208(%r15)\nstd %f15,216(%r15)\n"
	"ld %f0,0(%r4)\nld %f1,8(%r4)\nld %f2,16(%r4)\nld %f3,24(%r4)\nld %f4,32(%r4)\nld %f5,40(%r4)\nld %f6,48(%r4)\nld %f7,56(%r4)\n"
	"ld %f8,64(%r4)\nld %f9,72(%r4)\nld %f10,80(%r4)\nld %f11,88(%r4)\nld %f12,96(%r4)\nld %f13,104(%r4)\nld %f14,112(%r4)\nld %f15,120(%r4)\n"
	"lam %a2,%a15,128(%r4)\n"
	"lmg %r5,%r14,0(%r4)\n"
	"lg %r0,88(%r4)\nlg %r1,96(%r4)\n"
	".globl before\nbefore: svc 37\n"
	".globl after\nafter: ld %f8,160(%r15)\nld %f9,168(%r15)\nld %f10,176(%r15)\nld %f11,184(%r15)\n"
	"ld %f12,192(%r15)\nld %f13,200(%r15)\nld %f14,208(%r15)\nld %f15,216(%r15)\n"
	"lmg %r6,%r15,368(%r15)\n"
	"br %r14\n.size raise_with_registers,.-raise_with_registers\n");

int main(void) {
	long fill[24];
	for (int i = 0; i < 24; i++)
		fill[i] = 0x1122334455667700ul * (i + 3ul) + i * 0x0101010101010101ul;
	struct sigaction sa;
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = handler;
	sigaction(SIGUSR1, &sa, 0);
	sa.sa_sigaction = info_handler;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR2, &sa, 0);
	raise_with_registers(getpid(), SIGUSR1, fill);
	raise_with_registers(getpid(), SIGUSR2, fill);
	return 0;
}
