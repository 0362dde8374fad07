//go:build !amd64

package control

// HostLayout returns NTXLayout of this machine; nil where its processor does not tell.
func HostLayout() []byte { return nil }
