//go:build !linux

package sectioncache

import (
	"time"

	"github.com/sfwalk/sfwalk/symbol"
)

// keyOf is never ok: this system's record of a file does not tell enough.
func keyOf(symbol.CompressedSection, time.Time) (key string, settled, ok bool) {
	return "", false, false
}
