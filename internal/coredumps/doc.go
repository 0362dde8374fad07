// Package coredumps lists the core files that systemd-coredump keeps, as coredumpctl does, without
// systemd's libraries and without its journal.
//
// A file's name and its extended attributes say whose core it is (systemd's coredump.c, functions
// make_filename and fix_xattr). The journal knows more: cores that were removed, command lines,
// units. A folder goes in. A [Core] for each of its core files comes out, oldest first, and
// [Matches] chooses among these as coredumpctl's arguments do.
package coredumps

// Store is the folder where systemd-coredump keeps its files.
const Store = "/var/lib/systemd/coredump"
