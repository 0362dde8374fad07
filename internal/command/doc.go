// Package command is the command sfwalk: it takes flags, calls the packages, and writes text or
// JSON.
//
// It imports neither gRPC, which plug-ins need, nor Delve: each would cost every start of the
// program some milliseconds, used or not. So two programs call [Main]: cmd/sfwalk without a
// [PluginHost] and a [DelveServer], and cmd/sfwalk-full with those of
// internal/command/pluginhost and internal/command/dlvhost. The first becomes the second when they
// are needed.
package command
