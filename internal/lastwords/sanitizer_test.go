package lastwords

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

const report = "=================================================================\n" +
	"==7==\x1b[1m\x1b[31mERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\x1b[0m\n" +
	"READ of size 1 at 0x1 thread T0\n    #0 0x2 in main\n\nSUMMARY: AddressSanitizer: heap-buffer-overflow /a.c:7 in main\n"

// reported is the memory of a thread whose stack, at base, has the address of a report.
func reported(a *arch.Arch, text string) []byte {
	data := make([]byte, leastPage, 2*leastPage)
	a.PutWord(data[0x20:], base+leastPage)
	return append(data, text...)
}

// asanThread is a thread that AddressSanitizer ends.
func asanThread(t testing.TB, a *arch.Arch, data []byte) *Thread {
	p := newProcess(t, a, data)
	var r arch.Registers
	r.Set(a.SP, base)
	return &Thread{Target: p, Memory: p.memory, Frames: []Frame{
		{Functions: []string{"abort"}, Registers: &r, CFA: base + 0x10}, {Functions: []string{"__asan_report_load1"}, Registers: &r, CFA: base + 0x40},
		{Functions: []string{"main"}, Registers: &r, CFA: base + 0x50},
	}}
}

// The report is read without its colours; one that is not whole, or begins otherwise, is none.
func TestReport(t *testing.T) {
	const want = "ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2\nREAD of size 1 at 0x1 thread T0\nSUMMARY: AddressSanitizer: heap-buffer-overflow /a.c:7 in main"
	for _, a := range arches {
		for text, want := range map[string]string{
			report + "\x00": want, report: "", strings.TrimLeft(report, "=") + "\x00": "", strings.Replace(report, "ERROR", "ERR", 1) + "\x00": "",
		} {
			got := Of(asanThread(t, a, reported(a, text)))
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].Text != want) {
				t.Errorf("%s: %.80q: %q", a.Name, text, got)
			}
		}
	}
}

func FuzzReport(f *testing.F) {
	threads := make([]*Thread, len(arches))
	for i, a := range arches {
		f.Add(uint8(i), report+"\x00")
		threads[i] = asanThread(f, a, nil)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		i := int(which) % len(arches)
		th := *threads[i]
		th.Memory = memtest.Flat{Lo: base, Data: reported(arches[i], text)}
		bounds.Hold(t, 2<<20+16*len(text), func() {
			for _, w := range Of(&th) {
				if w.Text == "" || len(w.Text) > 2*maxText {
					t.Errorf("%d bytes", len(w.Text))
				}
			}
		})
	})
}
