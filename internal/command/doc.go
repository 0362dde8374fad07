// Package command is the command sfwalk: flags in, packages called, text or JSON out.
//
// It knows nothing of how plug-ins are run: that takes gRPC, which costs every start of a
// program 1.4 ms, used or not. So there are two programs that call [Main]: cmd/sfwalk
// without a [Host], and cmd/sfwalk-full with the one of internal/command/pluginhost. The
// first becomes the second where plug-ins are asked for.
package command
