// Package waits says which thread of a target waits for which lock, and who holds it. Locks have
// the names of variables, and of their members.
package waits
