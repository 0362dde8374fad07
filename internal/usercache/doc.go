// Package usercache opens folders below the user's cache folder, in which the command keeps what it
// has found out for its next run.
//
// A folder and its files count only if they are the user's own, and nobody else can write to them
// or put others in their place.
package usercache
