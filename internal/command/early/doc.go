// Package early begins what takes longest of a command before other packages are initialised.
package early
