//go:build !unix

package files

// OutliveReader does nothing: only Unix ends programs whose output nobody reads.
func OutliveReader() {}

// ReaderGone reports nothing: there are no such errors.
func ReaderGone(error) bool { return false }
