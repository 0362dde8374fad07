package lastwords

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// Where the parts of a panic of Rust that is made are: the stack begins at base.
const (
	payloadAt   = base + 0x20 // a struct FormatStringPayload
	ownAt       = base + 0x80 // the frame of panic_fmt
	argumentsAt = base + 0x100
	placeAt     = base + 0x180
	textsAt     = base + 0x1b0 // an array of one text
	pathAt      = base + 0x1c0
	messageAt   = base + 0x1e0
)

const rustMessage, rustPath = "a message", "src/main.rs"

// rustPanicked is the memory of a thread that panics with a message that is a constant.
func rustPanicked(a *arch.Arch) []byte {
	data := make([]byte, 0x200)
	size := uint64(a.PtrSize)
	word := func(addr uint64, list ...uint64) {
		for i, v := range list {
			a.PutWord(data[addr-base+uint64(i)*size:], v)
		}
	}
	word(ownAt+size, argumentsAt, placeAt)
	data[ownAt-base+3*size] = 1
	word(placeAt, pathAt, uint64(len(rustPath)))
	a.Order.PutUint32(data[placeAt-base+2*size:], 12)
	a.Order.PutUint32(data[placeAt-base+2*size+4:], 21)
	copy(data[pathAt-base:], rustPath)
	copy(data[messageAt-base:], rustMessage)
	word(argumentsAt, messageAt, uint64(len(rustMessage))<<1|1)
	return data
}

// rustThread is a thread that dies in panic_fmt.
func rustThread(t testing.TB, a *arch.Arch, data []byte) *Thread {
	p := newProcess(t, a, data)
	var inner, own arch.Registers
	inner.Set(a.SP, base)
	own.Set(a.SP, ownAt)
	return &Thread{Target: p, Memory: p.memory, Frames: []Frame{
		{Functions: []string{"abort"}, Registers: &inner, CFA: base + 0x10}, {Functions: []string{rustFormat}, Registers: &own, CFA: ownAt + 0x40},
	}}
}

// The message is found as each release of Rust keeps it: as a constant in either form, or as a
// String. A place that is none is not shown.
func TestRustPanic(t *testing.T) {
	for _, a := range arches {
		size := uint64(a.PtrSize)
		const place = "panicked at src/main.rs:12:21"
		check := func(what string, data []byte, want string) {
			t.Helper()
			got := Of(rustThread(t, a, data))
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Text != want) {
				t.Errorf("%s: %s: %q", a.Name, what, got)
			}
		}
		data := rustPanicked(a)
		check("a constant", data, place+":\n"+rustMessage)

		old := bytes.Clone(data)
		put := func(addr uint64, list ...uint64) {
			for i, v := range list {
				a.PutWord(old[addr-base+uint64(i)*size:], v)
			}
		}
		put(argumentsAt, textsAt, 1, size, 0, 0, 0)
		put(textsAt, messageAt, uint64(len(rustMessage)))
		check("a constant before Rust 1.92", old, place+":\n"+rustMessage)
		put(argumentsAt, textsAt, 2, argumentsAt, 1, 0, 0) // it is a format
		check("a format", old, place)
		put(payloadAt, 16, messageAt, uint64(len(rustMessage)), argumentsAt)
		check("a String", old, place+":\n"+rustMessage)
		put(payloadAt, 0, argumentsAt, messageAt, 16, uint64(len(rustMessage)))
		check("a String in another order", old, place+":\n"+rustMessage)
		put(payloadAt, 16, messageAt, 17, argumentsAt)
		check("a String that is longer than its room", old, place)

		for what, at := range map[string]uint64{"no line": placeAt + 2*size, "no path": placeAt, "a path of something else": pathAt + uint64(len(rustPath)) - 3} {
			bad := bytes.Clone(data)
			clear(bad[at-base:][:size])
			check(what, bad, "")
		}
	}
}

func FuzzRust(f *testing.F) {
	threads := make([]*Thread, len(arches))
	for i, a := range arches {
		f.Add(uint8(i), rustPanicked(a))
		threads[i] = rustThread(f, a, nil)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		th := *threads[int(which)%len(arches)]
		th.Memory = memtest.Flat{Lo: base, Data: data}
		bounds.Hold(t, 1<<20, func() {
			for _, w := range Of(&th) {
				if w.Text == "" || len(w.Text) > 4*maxText {
					t.Errorf("%d bytes", len(w.Text))
				}
			}
		})
	})
}
