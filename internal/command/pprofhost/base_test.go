package pprofhost

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// packed returns a profile of one type of samples, and n bytes of copies of a message.
func packed(t testing.TB, message string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, "\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01a")
	many := strings.Repeat(message, 1<<16)
	for ; n > 0; n -= len(many) {
		io.WriteString(z, many)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBaseBomb: a file of some kilobytes is not parsed into gigabytes.
func TestBaseBomb(t *testing.T) {
	for name, data := range map[string][]byte{
		"samples":   packed(t, "\x12\x00", 10<<20),
		"strings":   packed(t, "\x32\x00", 10<<20),
		"locations": packed(t, "\x22\x02\x08\x01", 10<<20),
		"labels":    packed(t, "\x12\x0c"+strings.Repeat("\x1a\x00", 6), 15<<20),
		"lines":     packed(t, "\x22\x0c"+strings.Repeat("\x22\x00", 6), 15<<20),
		"large":     packed(t, "\x12\x00", 64<<20),
	} {
		bounds.Hold(t, 64<<20, func() {
			if _, err := parseProfile(data); err == nil || !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "unpacked") {
				t.Errorf("%s: %d bytes: %v", name, len(data), err)
			}
		})
	}
}

// FuzzBase: what is refused for its size apart, a profile is what pprof's own parser makes of it.
func FuzzBase(f *testing.F) {
	f.Add([]byte("\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01a\x12\x06\x0a\x01\x01\x12\x01\x05"))
	f.Add(packed(f, "\x32\x01x", 100))
	f.Add([]byte("\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 128<<20, func() {
			got, err := parseProfile(data)
			if err != nil {
				return
			}
			want, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Errorf("%v, want %v", got, want)
			}
		})
	})
}
