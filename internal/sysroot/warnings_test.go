package sysroot_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
)

// Thousands of objects of a link map may share one long name: what is said of them all is bounded,
// and says that it is not all.
func TestManyWarnings(t *testing.T) {
	const objects, most = 16_000, 5 << 20
	files := sysroot.New(sysroot.Options{Arch: amd64.Arch, Root: t.TempDir()}, nil)
	defer files.Close()
	name := "/" + strings.Repeat("n", 200) + "/" + strings.Repeat("m", 3000)
	for i := range uint64(objects) {
		if _, err := files.Object(linkmap.Object{Path: name, Bias: i << 16}); err == nil {
			t.Fatal("the file is there")
		}
	}
	list := files.Warnings()
	text := 0
	for _, w := range list {
		text += len(w)
	}
	if text > most || len(list) < 2 || len(list) > objects/2 || !strings.HasPrefix(list[0], name) {
		t.Errorf("%d warnings of %d bytes", len(list), text)
	} else if last := list[len(list)-1]; !strings.Contains(last, "the others are left out") {
		t.Errorf("the last one is %.200q", last)
	}
}
