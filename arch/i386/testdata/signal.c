/* Each handler tells what the kernel has put on the stack for it: the address that it returns to, the code there, SP
   behind that address, and the stack from there on. The registers before the signal are the numbers that the test
   knows. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *name, unsigned *frame) {
	unsigned ra = frame[0];
	printf("%s %x ", name, ra);
	for (int i = 0; i < 8; i++)
		printf("%02x", ((unsigned char *)ra)[i]);
	printf(" %lx ", (unsigned long)(frame + 1));
	for (int i = 1; i <= 96; i++)
		printf("%02x%02x%02x%02x", frame[i] & 255, frame[i] >> 8 & 255, frame[i] >> 16 & 255, frame[i] >> 24);
	printf("\n");
	fflush(stdout);
}

#define FRAME ((unsigned *)__builtin_frame_address(0) + 1)

static void with_info(int sig, siginfo_t *info, void *uc) {
	tell("siginfo", FRAME);
	_exit(0);
}

static void plain(int sig) {
	tell("plain", FRAME);
	_exit(0);
}

void restore(void);
void restore_rt(void);
asm("restore: pop %eax; mov $119,%eax; int $0x80\n"
    "restore_rt: mov $173,%eax; int $0x80\n");

struct kernel_sigaction { void *handler; unsigned long flags; void *restorer; unsigned long mask[2]; };

int main(int argc, char **argv) {
	int info = atoi(argv[1]) & 1, own = atoi(argv[1]) & 2;
	struct kernel_sigaction sa = {info ? (void *)with_info : (void *)plain, (info ? SA_SIGINFO : 0) | (own ? 0x04000000 : 0), info ? (void *)restore_rt : (void *)restore, {0, 0}};
	if (syscall(SYS_rt_sigaction, SIGILL, &sa, 0, 8) != 0)
		return 1;
	asm volatile("mov $0x11111111,%eax; mov $0x22222222,%ebx; mov $0x33333333,%ecx; mov $0x44444444,%edx;"
		"mov $0x55555555,%esi; mov $0x66666666,%edi; mov %esp,%ebp; add $0x1000,%ebp; .globl trap\ntrap: ud2");
	return 1;
}
