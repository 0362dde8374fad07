/* A program without a libc that changes to code of the other width, which reads its standard input to the end. */
static char c;

void _start(void) {
#ifdef __i386__
    __asm__ volatile("mov $27, %%eax; mov $120, %%ebx; int $0x80\n"                  /* alarm */
                     "mov $4, %%eax; mov $1, %%ebx; mov $text, %%ecx; mov $6, %%edx; int $0x80\n" /* write */
                     "ljmp $0x33, $1f\n"
                     ".code64\n"
                     "1: xor %%eax, %%eax; xor %%edi, %%edi; mov %0, %%esi; mov $1, %%edx; syscall\n" /* read */
                     "test %%eax, %%eax; jg 1b\n"
                     "mov $60, %%eax; xor %%edi, %%edi; syscall\n" /* exit */
                     ".code32\n"
                     "text: .ascii \"ready\\n\"\n" ::"i"(&c));
#else
    __asm__ volatile("mov $37, %%eax; mov $120, %%edi; syscall\n"
                     "mov $1, %%eax; mov $1, %%edi; mov $text, %%esi; mov $6, %%edx; syscall\n"
                     "push $0x23; push $1f; lretq\n"
                     ".code32\n"
                     "1: mov $3, %%eax; xor %%ebx, %%ebx; mov %0, %%ecx; mov $1, %%edx; int $0x80\n"
                     "test %%eax, %%eax; jg 1b\n"
                     "mov $1, %%eax; xor %%ebx, %%ebx; int $0x80\n"
                     ".code64\n"
                     "text: .ascii \"ready\\n\"\n" ::"i"(&c));
#endif
}
