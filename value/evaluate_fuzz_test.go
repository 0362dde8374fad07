//go:build linux

package value_test

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// evaluate evaluates an expression in a frame, and writes its value.
func evaluate(f *value.Frame, text string) (value.Value, error) {
	v, err := f.Evaluate(text)
	if err == nil {
		(&value.Printer{Elements: 5, Depth: 4, MaxText: 2 << 10}).Print(&v)
		_ = v.Type.String()
		walk(&v, 2)
	}
	return v, err
}

// frames returns the frames of a program of package symbol's testdata that have variables.
func frames(t testing.TB, name string, memory []byte) (list []value.Frame) {
	data := fixture(t, name)
	im, err := elf.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m := target.NewModule("/fuzzed", []target.Mapping{{Lo: codeStart, Hi: codeStart + codeSize, Exec: true}}, func() (*elf.Image, error) { return im, nil })
	p := &process{arch: amd64.Arch, memory: memory, modules: target.NewModules([]*target.Module{m}, nil)}
	symbols := symbol.New(symbol.Options{DebugDirs: []string{}})
	t.Cleanup(func() { symbols.Close() })
	reader := value.NewReader(p, symbols, printers.All())
	for pc := uint64(codeStart); pc < codeStart+codeSize; pc += codeSize / 32 {
		p.pc = pc
		s, err := frame.New(p, p, &frame.Table{Arch: amd64.Arch})
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range logical.New(p, symbols).All(s) {
			if err != nil {
				break
			}
			if in, err := reader.Frame(&f, p.memory); err == nil && len(in.Arguments)+len(in.Locals) > 0 {
				list = append(list, in)
			}
		}
	}
	return list
}

// FuzzEvaluate evaluates any text in frames of C and C++.
func FuzzEvaluate(f *testing.F) {
	memory := []byte("\x00\x10\x40\x00\x00\x00\x00\x00text\x00\x08\x10\x40\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00")
	list := append(frames(f, "c5", memory), frames(f, "cxx5", memory)...)
	if len(list) == 0 {
		f.Fatal("no frame has variables")
	}
	first := map[string]bool{}
	for i := range list {
		in := &list[i]
		for _, v := range append(in.Arguments, in.Locals...) {
			if !first[v.Name] {
				first[v.Name] = true
				f.Add(v.Name)
				f.Add("*" + v.Name + "@3 == &" + v.Name)
				f.Add("(" + v.Type.String() + ") 1.5 / sizeof " + v.Name)
			}
		}
	}
	for _, text := range []string{"$sp + 1 ? *(int *) $sp : 'a' << 2", "\"text\"[1] * 1.5L", "(char (*)[3]) 8 - (char (*)[3]) 2", "{long} 8 % -3", "ns::T<int>::x", "'file.c'::main", "(int (*)(int)) main"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 64<<20+2000*len(text), func() {
			for i := range list[:min(4, len(list))] {
				if _, err := evaluate(&list[i], text); err != nil && err.Error() == "" {
					t.Error("an error without a text")
				}
			}
		})
	})
}
