// Package systemtest boots real kernels of arm64 and s390x, and tests there what no emulated
// process can show: attaching by ptrace, the kernel's signal frames, its vDSO, its core files.
//
// Enters: Debian's packages of a kernel, gdb and busybox, which are kept in .cache/system; and
// programs of this machine's cross compilers. Leaves: a guest under qemu-system, whose root is
// an initramfs with them ([Boot]); it runs commands, takes files and gives files. In the guest
// cc, c++, go and readelf run on this machine, so that tests build their programs as they do
// here.
//
// The tests are built with the tag "system": "make system" runs them, "make test" does not.
package systemtest
