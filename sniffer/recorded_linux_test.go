package sniffer_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// recorded is a target made of one recorded stop: registers and stack from the
// recording, code and data from the files that were mapped.
type recorded struct {
	state   *gdbtest.StepState
	modules *target.Modules
	files   map[*target.Module]*os.File
	bare    bool // the program has no tables
}

func newRecorded(t *testing.T, rec *gdbtest.Recording) *recorded {
	t.Helper()
	return newRecordedFrom(t, rec, rec.Program)
}

// newRecordedFrom uses another file with the same code for the program.
func newRecordedFrom(t *testing.T, rec *gdbtest.Recording, program string) *recorded {
	t.Helper()
	r := &recorded{files: map[*target.Module]*os.File{}}
	var paths []string
	mappings := map[string][]target.Mapping{}
	for line := range strings.Lines(rec.Maps) {
		// lo-hi perms offset dev inode path
		f := strings.Fields(line)
		if len(f) < 6 || !strings.HasPrefix(f[5], "/") {
			continue
		}
		lo, hi, _ := strings.Cut(f[0], "-")
		m := target.Mapping{Lo: parseHex(t, lo), Hi: parseHex(t, hi), Offset: parseHex(t, f[2]), Exec: f[1][2] == 'x'}
		if _, ok := mappings[f[5]]; !ok {
			paths = append(paths, f[5])
		}
		mappings[f[5]] = append(mappings[f[5]], m)
	}
	var modules []*target.Module
	for _, path := range paths {
		from := path
		if path == rec.Program {
			from = program
		}
		file, err := os.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		st, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		m := target.NewModule(path, mappings[path], func() (*elf.Image, error) { return elf.Open(file, st.Size()) })
		r.files[m] = file
		modules = append(modules, m)
	}
	r.modules = target.NewModules(modules, nil)
	return r
}

func parseHex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (r *recorded) Arch() *arch.Arch                  { return amd64.Arch }
func (r *recorded) Memory() target.Memory             { return r }
func (r *recorded) Threads() ([]target.Thread, error) { return []target.Thread{r}, nil }
func (r *recorded) Modules() *target.Modules          { return r.modules }
func (r *recorded) Close() error                      { return nil }
func (r *recorded) ID() int                           { return 1 }
func (r *recorded) Name() string                      { return "recorded" }

func (r *recorded) Registers(f *arch.Registers) error {
	for n, v := range r.state.Regs {
		f.Set(trad.Reg(n), v)
	}
	return nil
}

func (r *recorded) ReadMemory(addr uint64, p []byte) (int, error) {
	if n, err := r.state.ReadMemory(addr, p); n > 0 {
		return n, err
	}
	if m := r.modules.Find(addr); m != nil {
		for _, x := range m.Mappings {
			if addr-x.Lo < x.Hi-x.Lo {
				return r.files[m].ReadAt(p, int64(addr-x.Lo+x.Offset))
			}
		}
	}
	return 0, target.ErrUnmapped
}
