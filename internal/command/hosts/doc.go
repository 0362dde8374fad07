// Package hosts has what plain sfwalk cannot do itself, as interfaces: plug-ins and servers of
// symbols need gRPC and net/http, which would cost each start some milliseconds. sfwalk-full links
// the implementations; a program without them becomes sfwalk-full by [BecomeFull].
package hosts
