//go:build !linux

package usercache

import "io/fs"

// Ours reports false: nothing is kept on this system.
func Ours(fs.FileInfo) bool { return false }

// Boot returns "": this system is not asked.
func Boot() string { return "" }
