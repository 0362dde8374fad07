package elf

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A table that is read in windows has the strings, and the places of strings, that its bytes have:
// also where a string lies in two windows, and when so many were read that all of it is.
func TestStringTable(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	data := []byte{0}
	for len(data) < 3*windowSize {
		n := r.IntN(12)
		if r.IntN(200) == 0 {
			n = r.IntN(5000)
		}
		for range n {
			data = append(data, "ab"[r.IntN(2)])
		}
		data = append(data, 0)
	}
	// A window ends behind a multiple of its size, by what it shares with the next one.
	copy(data[windowSize-20:], strings.Repeat("a", 29)+"\x00")
	copy(data[2*windowSize-21:], strings.Repeat("babab\x00", 8))
	data[len(data)-1] = 'a' // the last string has no end
	windowed := part{ReaderAt: bytes.NewReader(data), size: int64(len(data))}
	for name, table := range map[string]*stringTable{
		"in memory":  newStringTable(inMemory(data), nil),
		"in windows": newStringTable(windowed, nil),
		"read whole": newStringTable(windowed, func() ([]byte, error) { return data, nil }),
	} {
		for i := range 2 * manyNames {
			off := r.IntN(len(data))
			if i == 0 {
				off = len(data) - 3
			}
			want := data[off:]
			if end := bytes.IndexByte(want, 0); end >= 0 {
				want = want[:end]
			}
			most := r.IntN(2000)
			if text, length := table.begin(uint32(off), most); text != string(want[:min(most, len(want))]) || length != len(want) {
				t.Fatalf("%s: at %#x: %q, %d bytes; want %d", name, off, text, length, len(want))
			}
		}
		if text, length := table.begin(uint32(len(data)), 9); text != "" || length != 0 {
			t.Errorf("%s: behind the end: %q", name, text)
		}
		if is := name == "read whole"; is != (table.part.data != nil) && name != "in memory" {
			t.Errorf("%s: the whole table is in memory: %v", name, !is)
		}
		for _, want := range []string{"babab", "a", "abbab\x00", strings.Repeat("a", 9), "babababababababababbbabababb"} {
			if got := table.offsets([]byte(want)); !slices.Equal(got, places(data, want)) {
				t.Errorf("%s: %q is at %d places, want %d", name, want, len(got), len(places(data, want)))
			}
			want = strings.TrimSuffix(want, "\x00")
			if got := table.offsetsOf(want); !slices.Equal(got, places(data, want+"\x00")) {
				t.Errorf("%s: the name %q is at %d places, want %d", name, want, len(got), len(places(data, want+"\x00")))
			}
		}
	}
}

// places returns where in data text is.
func places(data []byte, text string) (list []uint32) {
	for at := range data {
		if bytes.HasPrefix(data[at:], []byte(text)) {
			list = append(list, uint32(at))
		}
	}
	return list
}

// A table whose bytes cannot be read has no strings.
func TestStringTableUnread(t *testing.T) {
	table := newStringTable(part{ReaderAt: unread{}, size: 1 << 30}, func() ([]byte, error) { return nil, io.ErrUnexpectedEOF })
	for range manyNames + 9 {
		if text, length := table.begin(5, 100); text != "" || length != 0 {
			t.Fatalf("%q", text)
		}
	}
	if list := table.offsetsOf("a"); list != nil {
		t.Error(list)
	}
}

// Of a table that has become shorter, there are the strings that are there to their ends.
func TestStringTableCut(t *testing.T) {
	table := newStringTable(part{ReaderAt: strings.NewReader("\x00whole\x00cut"), size: 1000}, nil)
	for off, want := range map[uint32]string{1: "whole", 7: "", 20: ""} {
		if text, length := table.begin(off, 100); text != want || length != len(want) {
			t.Errorf("at %d: %q, %d bytes; want %q", off, text, length, want)
		}
	}
}

type unread struct{}

func (unread) ReadAt([]byte, int64) (int, error) { return 0, io.ErrUnexpectedEOF }
