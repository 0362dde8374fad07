// Package peer says whether this user is at the other end of a connection: whoever listens on a
// machine may have any of its users as a client.
package peer
