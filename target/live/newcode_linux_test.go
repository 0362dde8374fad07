package live

import (
	"context"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestNewCode: code that a process maps while its threads are read is code, however often it maps
// some, and also where it had reserved addresses; other memory that is new is none.
func TestNewCode(t *testing.T) {
	t.Run("one thread after the other", func(t *testing.T) { testNewCode(t, Options{}) })
	t.Run("of one moment", func(t *testing.T) { testNewCode(t, Options{Consistent: true}) })
}

func testNewCode(t *testing.T, options Options) {
	p := gdbtest.Start(t, build(t, "newcode.c"))
	tg, err := Attach(context.Background(), p.PID, options)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for range 6 {
		if _, err := p.Stdin.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var code, other uint64
		if _, err := fmt.Sscanf(line, "0x%x 0x%x", &code, &other); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		m := tg.Modules()
		if m.IsCode(other) || !m.IsCode(code) || m.IsCode(code+0x1000) || m.CodeEnd(code+8) != code+0x1000 {
			t.Errorf("code at %#x: %v; other memory at %#x: %v; the code ends at %#x", code, m.IsCode(code), other, m.IsCode(other), m.CodeEnd(code+8))
		}
	}
	// What is no address costs nothing: the list is still read where it must be.
	for i := range uint64(1000) {
		if tg.Modules().IsCode(i<<40 | i) {
			t.Errorf("there is code at %#x", i<<40|i)
		}
	}
}
