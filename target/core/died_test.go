package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/internal/elfnote"
)

// TestDied: the thread that died is the first one for a core of the kernel, which notes the signal
// for each thread, and the one with the signal for a core of qemu 10.0.
func TestDied(t *testing.T) {
	for _, test := range []struct {
		signals []byte // of the threads 1, 2, ...
		order   string
		died    bool
	}{
		{[]byte{6, 6, 6}, "[1 2 3]", true},
		{[]byte{0, 0, 6, 0}, "[3 1 2 4]", true},
		{[]byte{0, 6}, "[2 1]", true},
		{[]byte{0, 0}, "[1 2]", false},
		{[]byte{2, 6}, "[1 2]", false}, // gcore of a process that SIGINT has stopped
		{[]byte{0, 2, 99}, "[1 2 3]", false},
	} {
		var notes []byte
		for i, signal := range test.signals {
			status := make([]byte, 336)
			status[12], status[32] = signal, byte(i+1)
			notes = elfnote.Append(notes, binary.LittleEndian, "CORE", 1, status)
		}
		data := coreOfNotes(notes, 1)
		tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{Sysroot: "/nonexistent"})
		if err != nil {
			t.Fatal(err)
		}
		var order []int
		for i, th := range tg.threads {
			order = append(order, th.id)
			if th.Died != (test.died && i == 0) {
				t.Errorf("%v: thread %d: died %v", test.signals, th.id, th.Died)
			}
		}
		if fmt.Sprint(order) != test.order {
			t.Errorf("%v: the threads are %v, want %s", test.signals, order, test.order)
		}
	}
}
