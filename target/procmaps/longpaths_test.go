package procmaps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// Mappings with long paths take the memory of each path once, and no more for long lines.
func TestLongPaths(t *testing.T) {
	const files, each, long = 1000, 4, 4000
	var text strings.Builder
	for i := range files * each {
		fmt.Fprintf(&text, "%x-%x r--p 00000000 08:01 %d /%04d%s\\012\n", 0x1000*(i+1), 0x1000*(i+2), 1+i/each, i/each, strings.Repeat("d", long))
	}
	list := []byte(text.String())
	var maps []Mapping
	var err error
	bounds.Hold(t, 13<<20, func() { maps, err = Parse(list) }) // a path as it is in the list, and as it is
	if err != nil || len(maps) != files*each || !strings.HasSuffix(maps[5].Path, "d\n") || !strings.HasPrefix(maps[5].Path, "/0001d") {
		t.Errorf("%d mappings: %v", len(maps), err)
	}
}
