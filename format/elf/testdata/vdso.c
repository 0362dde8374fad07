/* vdso: a library in the form of the kernel's vDSO on s390x.
 *
 * Proves: all of it is one segment, behind whose last page the section headers lie; and its
 * tables are found by section headers alone.
 *
 * Build: s390x-linux-gnu-gcc -shared -nostdlib -O2 -fPIC -Wl,--no-eh-frame-hdr,--build-id=none,--hash-style=both,-T,vdso.lds vdso.c
 */
int vdso_first(int (*f)(int)) { return f(1) + 1; }
int vdso_second(int (*f)(int)) { return f(2) + 2; }

/* The segment ends shortly before its page does. */
const char vdso_filler[0xa00] = "filler";
