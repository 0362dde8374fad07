package external

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	hcplugin "github.com/hashicorp/go-plugin"
)

// checksum holds a program against the checksum that was pinned for it, if one was.
func checksum(path, pinned string) error {
	if pinned == "" {
		return nil
	}
	want, err := hex.DecodeString(pinned)
	if err != nil || len(want) != sha256.Size {
		return fmt.Errorf("%w: %q is no SHA-256 checksum: want %d hexadecimal digits", ErrChecksum, pinned, 2*sha256.Size)
	}
	hash := sha256.New()
	c := hcplugin.SecureConfig{Checksum: want, Hash: hash}
	if ok, err := c.Check(path); err != nil {
		return errors.Join(ErrChecksum, err)
	} else if !ok {
		return fmt.Errorf("%w: the program's is %x, want %s: if you trust the program, pin that", ErrChecksum, hash.Sum(nil), pinned)
	}
	return nil
}
