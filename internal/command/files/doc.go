// Package files has how commands read and write whole files: a file is written in one step or not
// at all, and what comes through a pipe is copied to a file that can be read anywhere.
package files
