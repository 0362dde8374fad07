//go:build !unix

package plugindir

// Trusted is for systems whose files have an owner and a mode.
func Trusted(string) error { return nil }
