package s390x

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
)

func TestDWARFNumbers(t *testing.T) {
	processor.DWARFNumbers(t, "br %r14", func(r arch.RegInfo) string {
		switch {
		case r.Num == PSWM || r.Num == PSWA:
			return "" // readelf has no name for it
		case r.Num <= R15:
			return r.Name // "r5"
		}
		return fmt.Sprintf("r%d (%s)", r.Num, strings.Replace(r.Name, "acr", "a", 1)) // "r16 (f0)", "r48 (a0)"
	})
}
