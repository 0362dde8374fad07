// Package kernelnames names the functions of Linux's kernel by their addresses. It reads lists such
// as /proc/kallsyms has.
//
// The kernel writes that list anew for each reader, a hundred thousand lines and more, and begins
// at its beginning wherever a reader wants to begin. So [Cache] keeps the lines of the kernel's own
// functions, which stay the same until the next boot, in a file below the user's cache folder.
// Those of modules, BPF programs and probes, which come and go, are always read from the kernel.
//
// The addresses are a secret of the users who may read them. The file is this user's alone, and
// counts only as long as the kernel tells this user the same first addresses as the file has.
package kernelnames
