package kernelnames

import (
	"io"
	"strings"
	"testing"
)

// The function at or below an address counts, whatever the order of the lines.
func TestRead(t *testing.T) {
	const text = "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _stext\nffffffff81000100 t first\nffffffff81000100 t alias\n" +
		"ffffffff81000200 D data\nffffffff81000300 W second\nffffffffc0000000 t in_module\t[a_module]\nffffffff81000180 t third\nnonsense\n"
	got := Read(strings.NewReader(text), []uint64{0xffffffff81000120, 0xffffffff80000000, 0xffffffff81000100, 0xffffffff81000250, 0xffffffffc0000010, 0xffffffff81000300})
	for addr, want := range map[uint64]string{0xffffffff81000120: "first", 0xffffffff80000000: "", 0xffffffff81000100: "first", 0xffffffff81000250: "third",
		0xffffffffc0000010: "in_module", 0xffffffff81000300: "second"} {
		if got[addr] != want {
			t.Errorf("%#x is in %q, want %q", addr, got[addr], want)
		}
	}
}

// endless has zeros without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A list that goes on as a hole is read up to there.
func TestReadHole(t *testing.T) {
	list := io.MultiReader(strings.NewReader("ffffffff81000000 T _stext\nffffffff81000100 t first\n"), endless{})
	if got := Read(list, []uint64{0xffffffff81000120})[0xffffffff81000120]; got != "first" {
		t.Errorf("%q", got)
	}
}
