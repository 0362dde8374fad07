//go:build !linux

package descriptors

// Only Linux has what a Reader reads.

func isFIFO(string) bool                         { return false }
func identity(string) (dev, ino uint64, ok bool) { return 0, 0, false }
func protocolOf(string) string                   { return "" }

func (*Reader) unixPeer(*File, int, uint64) {}
