// Package systemtest boots real kernels of arm64, s390x and models of amd64, and tests there what
// no emulated process can show: attaching by ptrace, the kernel's signal frames, its vDSO, its core
// files, its recordings.
//
// In go Debian's packages of a kernel, gdb and busybox, which are kept in .cache/system, and
// programs of this machine's cross compilers. Out comes a guest under qemu-system, whose root is
// an initramfs with them ([Boot]). It runs commands, takes files and gives files. The guest's
// cc, c++, go and readelf run on this machine, so that tests build their programs as they do
// here.
//
// The tests are built with the tag "system": "make system" runs them, "make test" does not.
package systemtest
