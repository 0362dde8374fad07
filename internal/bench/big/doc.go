//go:build linux

// Package big measures what sfwalk takes on large programs, against the peers that do the same: the
// names of many addresses, and stacks of processes of many modules, threads and tables.
//
// It makes its programs itself, and takes from the machine only what is installed: what it lacks is
// "not measured".
package big
