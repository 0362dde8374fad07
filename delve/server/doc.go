// Package server serves Delve's clients from a debugger in this process: dlv connect
// (JSON-RPC), and editors (DAP), told apart by their first byte. Requests for stacks are
// answered by the engine, with what hangs on a frame's number (locals, expressions,
// registers); everything else by Delve.
//
// Enters: Delve's [debugger.Debugger] and a listener. Leaves: a server whose clients
// need to know nothing of it.
//
// It is for Linux on amd64 and arm64: elsewhere the package is empty.
//
// [debugger.Debugger]: https://pkg.go.dev/github.com/go-delve/delve/service/debugger#Debugger
package server
