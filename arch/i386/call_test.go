package i386

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
)

func TestAfterCall(t *testing.T) {
	for _, file := range []string{processor.Compile(t, frames, "-O2"), "/usr/i686-linux-gnu/lib/ld-linux.so.2"} {
		processor.AfterCall(t, file, 50, 8, func(text string) bool {
			return strings.HasPrefix(text, "call ") || strings.HasPrefix(text, "notrack call ")
		})
	}
}

// TestDWARFNumbers: readelf names eflags by its number.
func TestDWARFNumbers(t *testing.T) {
	processor.DWARFNumbers(t, "ret", func(r arch.RegInfo) string {
		if r.Num > EIP {
			return map[string]string{"eflags": "r9 (eflags)"}[r.Name]
		}
		return "r" + string(rune('0'+r.Num)) + " (" + r.Name + ")"
	})
}
