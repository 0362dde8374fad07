//go:build !unix

package command

// outliveReader does nothing: only Unix ends programs whose output nobody reads.
func outliveReader() {}

func readerGone(error) bool { return false }
