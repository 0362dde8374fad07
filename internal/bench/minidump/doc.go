//go:build linux

// Package minidump measures how long one crash takes with a symbol file as large as a browser's,
// and how many dumps a second a batch makes, beside Breakpad's minidump_stackwalk.
package minidump
