// Package server serves Delve's clients from a debugger in this process: dlv connect (JSON-RPC) and
// editors (DAP), told apart by their first byte. The engine answers requests for stacks, and for
// what depends on a frame's number: locals, expressions, registers; and calls of C functions that
// Delve does not find. Delve answers all others.
//
// Delve's [debugger.Debugger] and a listener go in, and a server comes out. Its clients need no
// change.
//
// The package is empty but on Linux on amd64 and arm64.
//
// [debugger.Debugger]: https://pkg.go.dev/github.com/go-delve/delve/service/debugger#Debugger
package server
