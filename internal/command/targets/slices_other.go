//go:build !linux

package targets

// ShortSlices does nothing: only Linux has such a request.
func ShortSlices() {}
