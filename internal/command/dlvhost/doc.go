// Package dlvhost lets package command serve Delve's clients: it is the [command.DelveServer]
// that is linked into sfwalk-full, and only there.
//
// What enters is what is to be debugged, and where to listen; clients are served by
// delve/server.
package dlvhost
