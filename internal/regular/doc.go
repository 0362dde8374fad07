// Package regular opens regular files by paths that others may have chosen. It does not wait for a
// pipe, does not wake a device, and does not leave the folder that is to be the root.
//
// In goes a path, on this machine or below a root folder (a sysroot, a container's root). Below a
// root, the path and all symbolic links on the way are resolved as after chroot(2). Out comes an
// open file. It is the file that was checked: to exchange a file or a link meanwhile gains nothing.
package regular
