// Package regular opens regular files, whoever has chosen their paths: it waits for no pipe, wakes
// no device, and does not leave a folder that is to be the root.
//
// What enters is a path, on this machine or below a root folder (a sysroot, a container's root),
// where it and all symbolic links on the way are resolved as after chroot(2). What leaves is an
// open file. What was checked is what is open: who exchanges a file or a link meanwhile gains nothing.
package regular
