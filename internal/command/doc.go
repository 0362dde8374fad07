// Package command is the command sfwalk: flags in, packages called, text or JSON out.
//
// It knows nothing of how plug-ins are run, nor of Delve: that takes gRPC, and a debugger, which
// cost every start of a program some milliseconds, used or not. So there are two programs that
// call [Main]: cmd/sfwalk without a [PluginHost] and a [DelveServer], and cmd/sfwalk-full with those of
// internal/command/pluginhost and internal/command/dlvhost. The first becomes the second where
// they are asked for.
package command
