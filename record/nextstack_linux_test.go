package record_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// next decorates the innermost frames of testdata/progs/nextstack.c by the number that lies behind
// the thread's stack.
type next struct{ at uint64 }

func (next) Name() string   { return "next" }
func (next) FramesOnStack() {}

// Find implements [language.Decorator].
func (next) Find(_ *language.Process, m *target.Module) ([]language.Runtime, error) {
	f, err := elf.Open(m.Path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if s.Name == "next_number" {
			_, bias, err := m.Image()
			return []language.Runtime{next{s.Value + bias}}, err
		}
	}
	return nil, nil
}

// Decorate implements [language.Runtime].
func (n next) Decorate(s *language.Stack) (*language.Decoration, error) {
	word := func(addr uint64) uint64 {
		var b [8]byte
		s.Memory.ReadMemory(addr, b[:])
		return binary.LittleEndian.Uint64(b[:])
	}
	cfa, _ := s.Frames[0].CFA()
	return &language.Decoration{Groups: []language.Group{{
		Anchor: language.Anchor{Level: 0, PC: s.Frames[0].PC(), CFA: cfa},
		Frames: []language.Frame{{Function: fmt.Sprint("number", word(word(n.at)))}},
	}}}, nil
}

// TestNextToStack samples a thread behind whose stack lies what a language's frames are read from,
// as the archive of classes behind the stack of a thread of Java. The number there is the
// program's.
func TestNextToStack(t *testing.T) {
	process := gdbtest.StartRunning(t, gdbtest.Build(t, "nextstack.c", "-O1", "-g", "-pthread"))
	r, err := record.Start(record.Options{
		PIDs: []int{process.PID}, Frequency: 499,
		Table:      func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
		Decorators: func(int) []language.Decorator { return []language.Decorator{next{}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	gdbtest.Await(t, "there are samples", func() bool { return r.Stats().Samples > 100 })
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := r.Profile().Picture(names)
	said := map[string]int64{}
	for _, s := range stacks.Samples {
		for _, f := range s.Frames {
			if at := &stacks.Places[f]; at.Code == picture.LanguageCode {
				said[at.Function] += s.Values[0]
			}
		}
	}
	if said["number77"] < 50 || said["number0"] > 0 {
		t.Errorf("%v", said)
	}
}
