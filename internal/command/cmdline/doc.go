// Package cmdline has what the commands share of their command lines: kinds of flags, arguments,
// completion by the shell, and warnings.
package cmdline
