// Package dlvhost lets package command serve Delve's clients: it is the [dlv.Server]
// that is linked into sfwalk-full, and only there.
//
// [dlv.Options] say what to debug and where to listen. Package delve/server serves the
// clients.
package dlvhost
