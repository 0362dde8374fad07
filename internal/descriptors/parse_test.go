package descriptors

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzProc has any text where the kernel's are: of sockets, of locks, of fdinfo, and answers of
// sock_diag.
func FuzzProc(f *testing.F) {
	f.Add([]byte("   0: 0100007F:1F90 0200000A:1538 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0000 20\n"))
	f.Add([]byte("0000: 00000002 00000000 00010000 0001 01 12345 /run/a b\n"))
	f.Add([]byte("1: FLOCK  ADVISORY  WRITE 9 fe:01:12345 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 10 fe:01:12345 0 EOF\n"))
	f.Add([]byte("tfd:  7 events: 19 data: 7\nit_value: (3, 4)\nsigmask:\t0000000000004002\nPid:\t3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		bounds.Hold(t, len(text), func() {
			for _, parse := range []func([]byte) (uint64, entry, bool){parseInternet, parseUnix} {
				table := newTable(bytes.NewReader(text), nil, parse)
				if _, ok := table.find(12345); ok && len(table.known) == 0 {
					t.Error("found in an empty table")
				}
				for _, e := range table.known {
					endpoint(e.local)
				}
			}
			for _, pid := range holders(text, 10, 0xfe<<32|1, 12345, false) {
				if pid <= 0 {
					t.Errorf("process %d holds a lock", pid)
				}
			}
			if left := timeLeft(text); left < 0 {
				t.Errorf("%v are left", left)
			}
			if n := len(signalsOf(text)); n > 6 {
				t.Errorf("%d signals", n)
			}
			watchedFDs(text)
			field(text, "Pid:")
			kernelName(string(text))
		})
	})
}

// TestSockets reads lines of the kernel's lists, of IPv4 and IPv6, as proc_pid_net(5) has them: the
// words of an address are numbers of the machine.
func TestSockets(t *testing.T) {
	word := func(b ...byte) uint32 { return binary.NativeEndian.Uint32(b) }
	hex := func(v uint32) string { return string(appendHex(nil, v)) }
	line := "   1: " + hex(word(127, 0, 0, 1)) + ":1F90 " + hex(word(10, 0, 0, 2)) + ":1538 08 00000000:00000000 00:00000000 00000000  1000        0 77 1 0000 20\n"
	inode, e, ok := parseInternet([]byte(line))
	if !ok || inode != 77 || endpoint(e.local) != "127.0.0.1:8080" || endpoint(e.peer) != "10.0.0.2:5432" || states[e.state] != "CLOSE_WAIT" {
		t.Errorf("%d %+v %v", inode, e, ok)
	}
	line = "   1: " + hex(0) + hex(0) + hex(0) + hex(0) + ":0050 " + hex(0) + hex(0) + hex(word(0, 0, 255, 255)) + hex(word(10, 0, 0, 2)) + ":1538 01 00000000:00000000 00:00000000 00000000  1000        0 78 1 0000 20\n"
	inode, e, ok = parseInternet([]byte(line))
	if !ok || inode != 78 || endpoint(e.local) != "*:80" || endpoint(e.peer) != "10.0.0.2:5432" {
		t.Errorf("%d %+v %v", inode, e, ok)
	}
	inode, e, ok = parseUnix([]byte("ffff8880: 00000002 00000000 00010000 0001 01 79 /run/a b\n"))
	if !ok || inode != 79 || e.path != "/run/a b" || !e.listens {
		t.Errorf("%d %+v %v", inode, e, ok)
	}
}

// appendHex appends a word in eight digits.
func appendHex(b []byte, v uint32) []byte {
	for i := 28; i >= 0; i -= 4 {
		b = append(b, "0123456789ABCDEF"[v>>i&15])
	}
	return b
}

// TestHolders: who waits for a lock waits for the process above it, of this file and kind alone.
func TestHolders(t *testing.T) {
	const text = `1: POSIX  ADVISORY  WRITE 9 fe:01:5 0 EOF
1: -> POSIX  ADVISORY  WRITE 10 fe:01:5 0 EOF
2: FLOCK  ADVISORY  WRITE 11 fe:01:5 0 EOF
2: -> FLOCK  ADVISORY  WRITE 12 fe:01:5 0 EOF
2:    -> FLOCK  ADVISORY  WRITE 10 fe:01:5 0 EOF
3: FLOCK  ADVISORY  WRITE 13 fe:01:6 0 EOF
3: -> FLOCK  ADVISORY  WRITE 10 fe:01:6 0 EOF
4: OFDLCK ADVISORY  WRITE -1 fe:01:7 0 EOF
4: -> OFDLCK ADVISORY  WRITE -1 fe:01:7 0 EOF
`
	for _, tt := range []struct {
		inode   uint64
		records bool
		want    int
	}{{5, true, 9}, {5, false, 11}, {6, false, 13}, {6, true, 0}, {7, true, 0}} {
		got := holders([]byte(text), 10, 0xfe<<32|1, tt.inode, tt.records)
		if len(got) == 0 && tt.want != 0 || len(got) > 0 && (len(got) != 1 || got[0] != tt.want) {
			t.Errorf("inode %d: %v, want %d", tt.inode, got, tt.want)
		}
	}
}
