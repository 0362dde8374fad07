package waitfor

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// TestRestarted: of the calls that restart_syscall goes on with, each is known by its arguments, or
// none is named.
func TestRestarted(t *testing.T) {
	const address = 0x7fff_0000_1000
	for _, tt := range []struct {
		args  [6]uint64
		wchan string
		want  string
	}{
		{[6]uint64{address, 2, 5000}, "do_poll.constprop.", "poll"},
		{[6]uint64{1, 0, address}, "hrtimer_nanosleep", "clock_nanosleep"},
		{[6]uint64{0, 0, address}, "do_syscall_64", "clock_nanosleep"},
		{[6]uint64{0, 0, 5000}, "do_syscall_64", ""}, // poll without files
		{[6]uint64{address, address}, "", "nanosleep"},
		{[6]uint64{address, 0}, "", ""}, // poll, nanosleep or futex
		{[6]uint64{address, 0x189, 2}, "futex_wait_queue", ""},
	} {
		if got := Restarted(amd64.Arch, tt.args, tt.wchan); got != tt.want {
			t.Errorf("%#x in %s: %q, want %q", tt.args, tt.wchan, got, tt.want)
		}
	}
}

// FuzzCallAt has any arguments and any memory: bounds hold, and no descriptor is listed beyond
// them.
func FuzzCallAt(f *testing.F) {
	f.Add(uint8(0), uint64(0x1000), uint64(3), []byte{3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0})
	names := []string{"poll", "ppoll", "select", "pselect6", "pselect6_time64", "openat", "socketcall", "nanosleep", "clock_nanosleep", "recvmmsg", "epoll_pwait2", "waitid", "fcntl64"}
	f.Fuzz(func(t *testing.T, which uint8, first, second uint64, data []byte) {
		bounds.Hold(t, len(data), func() {
			for _, a := range []*arch.Arch{amd64.Arch, i386.Arch} {
				c, ok := CallAt(a, memtest.Flat{Lo: 0x1000, Data: data}, names[int(which)%len(names)], [6]uint64{first, second, 0x1000, 0x1000, 0x1000, second})
				if ok && (len(c.FDs) > mostPolled || c.Timeout < 0) {
					t.Errorf("%+v", c)
				}
			}
		})
	})
}

// TestPolled counts what poll(2) and select(2) watch, of which the first four are listed.
func TestPolled(t *testing.T) {
	const n = 3000
	var list []byte
	for fd := range uint32(n) {
		list = binary.LittleEndian.AppendUint64(list, uint64(fd)) // its events are above it
	}
	binary.LittleEndian.PutUint32(list[8:], ^uint32(0)) // poll ignores -1
	if c, ok := CallAt(amd64.Arch, memtest.Flat{Lo: 0x1000, Data: list}, "poll", [6]uint64{0x1000, n, ^uint64(0)}); !ok || c.Polled != n-1 || !slices.Equal(c.FDs, []int{0, 2, 3, 4}) {
		t.Errorf("%+v", c)
	}
	set := make([]byte, (n+63)/64*8)
	for _, fd := range []int{3, 70, 2999} {
		set[fd/8] |= 1 << (fd % 8)
	}
	if c, ok := CallAt(amd64.Arch, memtest.Flat{Lo: 0x1000, Data: set}, "select", [6]uint64{n, 0x1000}); !ok || c.Polled != 3 || !slices.Equal(c.FDs, []int{3, 70, 2999}) {
		t.Errorf("%+v", c)
	}
}

// TestTimeout reads times as 32-bit and 64-bit processes have them.
func TestTimeout(t *testing.T) {
	data := binary.LittleEndian.AppendUint32(nil, 3)
	data = binary.LittleEndian.AppendUint32(data, 500_000_000)
	m := memtest.Flat{Lo: 0x1000, Data: data}
	if c, ok := CallAt(i386.Arch, m, "nanosleep", [6]uint64{0x1000}); !ok || c.Timeout != 3500*time.Millisecond {
		t.Errorf("%+v", c)
	}
	data = binary.LittleEndian.AppendUint64(nil, 3)
	data = binary.LittleEndian.AppendUint64(data, 500_000_000)
	m = memtest.Flat{Lo: 0x1000, Data: data}
	for _, a := range []*arch.Arch{i386.Arch, amd64.Arch} {
		name := "clock_nanosleep"
		if a == i386.Arch {
			name += "_time64"
		}
		if c, ok := CallAt(a, m, name, [6]uint64{0, 0, 0x1000}); !ok || c.Timeout != 3500*time.Millisecond {
			t.Errorf("%s: %+v", a.Name, c)
		}
	}
}
