package snapshot_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Write refuses what a core file cannot hold, and writes nothing.
func TestWriteErrors(t *testing.T) {
	for want, change := range map[string]func(*snapshot.Snapshot){
		"no core files":         func(s *snapshot.Snapshot) { s.Arch = &arch.Arch{} },
		"no thread":             func(s *snapshot.Snapshot) { s.Threads = nil },
		"0 is no thread":        func(s *snapshot.Snapshot) { s.Threads[1].TID = 0 },
		"-1 is no process":      func(s *snapshot.Snapshot) { s.PID = -1 },
		"is not behind":         func(s *snapshot.Snapshot) { s.Maps[1].Lo-- },
		"mapping 0x1-0x1 is":    func(s *snapshot.Snapshot) { s.Maps[0].Lo, s.Maps[0].Hi = 1, 1 },
		"no multiple of 0x1000": func(s *snapshot.Snapshot) { s.Maps[0].Offset = 7 },
		"memory 0x5555552000":   func(s *snapshot.Snapshot) { s.Memory[1].Addr -= 2 },
		"memory 0xfffffffffffffff0-0x70 is not": func(s *snapshot.Snapshot) {
			s.Memory = append(s.Memory, snapshot.Block{Addr: ^uint64(15), Data: make([]byte, 128)})
		},
		"ranges of memory do not fit": func(s *snapshot.Snapshot) {
			for i := range uint64(70000) {
				s.Memory = append(s.Memory, snapshot.Block{Addr: nobody<<1 + i*2, Data: []byte{1}})
			}
		},
	} {
		s := fullSnapshot(amd64.Arch)
		change(s)
		var b bytes.Buffer
		if err := s.Write(&b); want == "memory 0x5555552000" {
			if err == nil || !strings.Contains(err.Error(), "is not behind") || b.Len() > 0 {
				t.Errorf("%q: %v, %d bytes", want, err, b.Len())
			}
		} else if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "write snapshot of process ") || b.Len() > 0 {
			t.Errorf("%q: %v, %d bytes", want, err, b.Len())
		}
	}
	// A disk may be full, and a file may have become shorter.
	s := fullSnapshot(amd64.Arch)
	if err := s.Write(full{}); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	s.Files[0].Content = io.NewSectionReader(bytes.NewReader(nil), 0, 100)
	if err := s.Write(io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A process may have more mappings than a core file can have program headers.
func TestManyMappings(t *testing.T) {
	s := fullSnapshot(amd64.Arch)
	for i := range uint64(70000) {
		m := procmaps.Mapping{Lo: stack + 0x10_0000 + i*0x2000, Read: true}
		m.Hi = m.Lo + 0x1000
		s.Maps = append(s.Maps, m)
	}
	tg := read(t, written(t, s))
	equalThreads(t, tg, s)
	equalMemory(t, tg, s)
	equalModules(t, tg)
}

// Write takes no memory for the copies.
func TestWriteStreams(t *testing.T) {
	s := fullSnapshot(amd64.Arch)
	one := fill(1<<20, 0)
	s.Memory, s.Files = nil, nil
	for i := range uint64(512) {
		s.Memory = append(s.Memory, snapshot.Block{Addr: nobody + i<<20, Data: one})
	}
	var n counter
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n = 0
			if err := s.Write(&n); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if n < 512<<20 || allocated > 1<<20 {
		t.Errorf("%d bytes written, %d allocated", n, allocated)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// Registers of every set survive, each in its own place.
func TestPut(t *testing.T) {
	for _, a := range arches {
		for _, k := range a.KernelRegs {
			var regs, got arch.Registers
			for i, r := range k.Regs {
				regs.Set(r.Reg, (uint64(i)*0x01010101+1)&(1<<(8*r.Size-1)<<1-1))
			}
			set := bytes.Repeat([]byte{0xee}, k.Size)
			if k.Read != nil {
				k.Get(a, set, &regs)
			}
			k.Put(a, &regs, set)
			k.Get(a, set, &got)
			if got != regs {
				t.Errorf("%s, note %d", a.Name, k.Note)
			}
			// Unknown registers are left alone.
			again := bytes.Clone(set)
			k.Put(a, &arch.Registers{}, again)
			if !bytes.Equal(again, set) {
				t.Errorf("%s, note %d: written to by no register", a.Name, k.Note)
			}
		}
	}
}
