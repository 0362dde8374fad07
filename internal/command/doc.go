// Package command is the command sfwalk: it takes flags, calls the packages, and writes text or
// JSON.
//
// It imports neither gRPC, which plug-ins need, nor Delve, nor pprof's pages, nor a library of
// terminals: each would cost every start of the program some milliseconds, used or not. So two
// programs call [Main]: cmd/sfwalk without [Hosts], and cmd/sfwalk-full with the hosts of
// internal/command/pluginhost, dlvhost, pprofhost and screenhost. The first becomes the second when
// they are needed.
package command
