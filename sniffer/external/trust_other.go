//go:build !unix

package external

// trusted is for systems whose files have an owner and a mode.
func trusted(string) error { return nil }
