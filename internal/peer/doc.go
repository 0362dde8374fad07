// Package peer says whether this user is at the other end of a connection: of those who listen on a
// machine, any user may be a client.
package peer
