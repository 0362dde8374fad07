package perfdata

import "testing"

// Tighten bounds what is unpacked, and how many bytes of records wait, until the test ends.
func Tighten(t testing.TB, unpacked, window uint64) {
	u, r, w := usualSize, maxRatio, maxWindow
	t.Cleanup(func() { usualSize, maxRatio, maxWindow = u, r, w })
	usualSize, maxRatio, maxWindow = unpacked, 16, window
}

// SetWindow bounds the bytes that records take which wait.
func (r *Reader) SetWindow(most int) { r.most = most }
