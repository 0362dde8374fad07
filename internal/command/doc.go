// Package command is the command sfwalk: it takes flags, calls the packages, and writes text or
// JSON.
//
// It imports neither gRPC, which plug-ins need, nor Delve, nor pprof's pages: each would cost every start of the
// program some milliseconds, used or not. So two programs call [Main]: cmd/sfwalk without a
// [PluginHost], a [DelveServer] and a [PageServer], and cmd/sfwalk-full with those of
// internal/command/pluginhost, internal/command/dlvhost and internal/command/pprofhost. The first becomes the second when they
// are needed.
package command
