#include <unistd.h>

char stack[65536] __attribute__((aligned(16)));

// call_on calls function on the stack that ends at top.
void call_on(void *top, void (*function)(void));

asm(".globl call_on\n"
    ".type call_on, @function\n"
    "call_on:\n"
    "	lea  8(%rsp), %rax\n"   // +0
    "	mov  %rax, -8(%rdi)\n"  // +5   the caller's SP goes onto the new stack
    "	lea  -16(%rdi), %rsp\n" // +9   the new stack
    "	call *%rsi\n"           // +13
    "	mov  8(%rsp), %rsp\n"   // +15  the old one
    "	jmp  *-8(%rsp)\n"       // +20  return
    ".size call_on, . - call_on\n");

void work(void) {
	for (;;)
		pause();
}

int main(void) {
	call_on(stack + sizeof stack, work);
}
