package cores

import (
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// TestOpen: each process stands in its own function. Its caller is code without a file, which
// sniffers unwind by a guess at best.
func TestOpen(t *testing.T) {
	for _, name := range Architectures() {
		p, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		threads, err := p.Threads()
		if err != nil || len(threads) != 1 {
			t.Fatalf("%s: threads %v, %v", name, threads, err)
		}
		stack, err := frame.New(p, threads[0], sniffer.Table(p.Arch()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f, err := stack.Frame(0)
		if err != nil || f.Module() == nil {
			t.Fatalf("%s: frame 0 %v, %v", name, f, err)
		}
		im, bias, err := f.Module().Image()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s, ok := im.Symbols().Find(f.PC() - bias); !ok || im.Symbols().Name(s) != "down" {
			t.Errorf("%s: frame 0 is in %v, want down", name, s)
		}
		if f, err = stack.Frame(1); f == nil || f.Module() != nil || !p.Modules().IsCode(f.PC()) {
			t.Errorf("%s: frame 1 is %v, %v, want one in code without a file", name, f, err)
		}
		if f.Sniffer() != "" && f.Row().Flags&trad.Guess == 0 {
			t.Errorf("%s: %s is certain of frame 1, want a guess at best", name, f.Sniffer())
		}
	}
	if p, err := Open("vax"); err == nil {
		p.Close()
		t.Error("no error for an architecture that there is no process of")
	}
}
