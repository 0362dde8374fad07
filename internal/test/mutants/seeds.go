//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// seeds makes and finds the files that mutants are made of.
type seeds struct {
	root    string   // the tree
	dir     string   // a folder for what is made
	sfwalk  string   // the command, which saves processes; "" if none are saved
	missing []string // what could not be made, and why
}

// files reads the files that match patterns below the tree.
func (s *seeds) files(patterns ...string) (list [][]byte) {
	for _, p := range patterns {
		paths, err := filepath.Glob(filepath.Join(s.root, p))
		for _, path := range paths {
			var data []byte
			if data, err = os.ReadFile(path); err == nil && len(data) < mostSize {
				list = append(list, data)
			}
		}
		if err != nil || len(paths) == 0 {
			s.missing = append(s.missing, fmt.Sprintf("%s: %v", p, err))
		}
	}
	return list
}

// packed is files, unpacked by xz.
func (s *seeds) packed(pattern string) (list [][]byte) {
	for _, data := range s.files(pattern) {
		r, err := xz.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(r)
		}
		if err != nil {
			s.missing = append(s.missing, fmt.Sprintf("%s: %v", pattern, err))
		} else if len(data) < mostSize {
			list = append(list, data)
		}
	}
	return list
}

// packers returns a file packed in each way that sfwalk unpacks.
func (s *seeds) packers(path string) (list [][]byte) {
	for _, data := range s.files(path) {
		var x, z, g bytes.Buffer
		if w, err := xz.NewWriter(&x); err == nil {
			w.Write(data)
			w.Close()
		}
		if w, err := zstd.NewWriter(&z); err == nil {
			w.Write(data)
			w.Close()
		}
		w := gzip.NewWriter(&g)
		w.Write(data)
		w.Close()
		list = append(list, x.Bytes(), z.Bytes(), g.Bytes())
	}
	return list
}

const (
	identifier = "11111111111111111111111111111111"
	base       = 0x7ff0_0000_0000 // of the one module of a dump
	depth      = 256              // frames on its stack
)

// dump returns a minidump of amd64 with one thread, on whose stack are the addresses of many places
// of one module.
func (s *seeds) dump(module string, windows bool) []byte {
	const stack = 0x7000_0000
	d := dumptest.New()
	of := func(i uint64) uint64 { return base + 0x1000 + 13*i + 1 }
	var words []byte
	for i := range uint64(depth) {
		words = append(words, d.U64(stack+16*(i+1), of(i+1))...)
	}
	words = append(words, d.U64(0, 0)...)
	size, stamp, os := uint32(0x400000), uint32(0), uint32(0x8201)
	cv := append(d.U32(0x4270454c), bytes.Repeat([]byte{0x11}, 16)...)
	if windows { // frames have sizes of their own: each word is a return address
		size, os, words = 0x8000, 2, nil
		for i := range uint64(8 * depth) {
			words = append(words, d.U64(base+0x1000+(29*i)%0x150)...)
		}
		cv = append(append([]byte("RSDS"), bytes.Repeat([]byte{0x11}, 16)...), "\x00\x00\x00\x00frames.pdb\x00"...)
	}
	d.System(9, os, "")
	memory := d.At(words)
	d.Stream(3, d.U32(1), d.Thread(1, stack, words, d.AMD64(of(0), stack, stack)))
	d.Stream(4, d.U32(1), d.ModuleAt(module, base, size, stamp, cv))
	d.Stream(5, d.U32(1), d.U64(stack), memory)
	d.Stream(24, d.U32(1), d.U32(1), d.U64(uint64(d.Text("main"))))
	return d.Bytes(0x5f000000)
}

// symbolFiles returns symbol files of the module of dump.
func (s *seeds) symbolFiles() (list [][]byte) {
	var few bytes.Buffer
	fmt.Fprintf(&few, "MODULE Linux x86_64 %s0 prog\nFILE 0 a.c\nFILE 1 b.c\nINLINE_ORIGIN 0 within\nINLINE_ORIGIN 1 further\n", identifier)
	for i := range 24 {
		at := 0x1000 + 0x100*i
		fmt.Fprintf(&few, "FUNC %x 100 0 f%d\nINLINE 0 7 0 0 %x 80\nINLINE 1 8 1 1 %x 40\n%x 80 7 0\n%x 80 9 1\n", at, i, at, at, at, at+0x80)
	}
	fmt.Fprintf(&few, "PUBLIC m 3000 0 g\nSTACK CFI INIT 1000 2000 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\n")
	for i := range 24 {
		fmt.Fprintf(&few, "STACK CFI %x .cfa: $rsp %d + $rbx: .cfa -24 + ^\n", 0x1000+0x155*i, 16+8*i)
	}
	fmt.Fprintf(&few, "STACK WIN 4 1000 2000 6 3 8 c 20 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =\n")
	list = append(list, few.Bytes())
	for _, data := range append(s.files("format/breakpad/testdata/inlines.sym"), s.packed("testdata/breakpad/omap_reorder_bbs.sym.xz")...) {
		if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
			list = append(list, append([]byte("MODULE Linux x86_64 "+identifier+"0 prog\n"), rest...))
		}
	}
	return list
}

// record returns a record of perf.data.
func record(kind uint32, misc uint16, parts ...any) []byte {
	var body bytes.Buffer
	for _, p := range parts {
		if text, ok := p.(string); ok {
			p = append([]byte(text), make([]byte, 8-len(text)%8)...)
		}
		binary.Write(&body, binary.LittleEndian, p)
	}
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, misc)
	b = binary.LittleEndian.AppendUint16(b, uint16(8+body.Len()))
	return append(b, body.Bytes()...)
}

// perfHead is the head of what perf record writes into a pipe: samples have IP, TID, TIME and
// CALLCHAIN, other records TID and TIME.
func perfHead() []byte {
	const sampleType, flags = 1 | 2 | 4 | 32, 1<<18 | 1<<8 | 1<<10
	b := append([]byte("PERFILE2"), 16, 0, 0, 0, 0, 0, 0, 0)
	return append(b, record(64, 0, uint32(1), uint32(112), uint64(0), uint64(100), uint64(sampleType), uint64(0), uint64(flags), make([]byte, 64), uint64(1))...)
}

func perfSample(pid uint32, time uint64, chain ...uint64) []byte {
	const user = ^uint64(511) // PERF_CONTEXT_USER
	return record(9, 2, chain[0], pid, pid, time, uint64(len(chain)+1), user, chain)
}

// perfPipe returns what perf record writes into a pipe, of two processes, with compressed records.
func (s *seeds) perfPipe() []byte {
	b := perfHead()
	var more []byte
	for i := range uint32(8) {
		more = append(more, perfSample(7+i%2, uint64(100+i), 0x401000+uint64(i), 0x401100, 0x402000)...)
	}
	w, _ := zstd.NewWriter(nil)
	packed := w.EncodeAll(more, nil)
	packed = append(packed, make([]byte, -len(packed)&7)...)
	id := []uint32{7, 7}
	return bytes.Join([][]byte{b,
		record(3, 0, id, "prog", id, uint64(1)), record(1, 2, id, uint64(0x400000), uint64(0x10000), uint64(0), "/no/prog", id, uint64(2)),
		record(10, 2, id, uint64(0x500000), uint64(0x1000), uint64(0), uint32(1), uint32(2), uint64(3), uint64(4), uint32(5), uint32(2), "/no/lib.so", id, uint64(3)),
		record(7, 0, uint32(8), uint32(7), uint32(8), uint32(7), uint64(4), []uint32{8, 8}, uint64(4)),
		more, record(81, 0, packed), record(4, 0, []uint32{8, 7, 8, 7}, uint64(200), id, uint64(200))}, nil)
}

// perfOfJitdump returns a recording of the process 77, which has written jit-77.dump: each function
// of the seeds has samples.
func (s *seeds) perfOfJitdump() []byte {
	id := []uint32{77, 77}
	b := append(perfHead(), record(3, 0, id, "jit", id, uint64(1))...)
	b = append(b, record(1, 2, id, uint64(0x10000000), uint64(0x1000), uint64(0), "/jit-77.dump", id, uint64(2))...)
	for _, data := range s.files("cmd/sniffer-perfmap/testdata/*.dump") {
		for _, r := range jitdumpShape(data).records {
			in := &input{data, binary.LittleEndian}
			if in.get(r.at, 4) == 0 && r.size > 56 { // JIT_CODE_LOAD
				at := uint64(in.get(r.at+32, 8))
				b = append(b, record(1, 2, id, at&^0xfff, uint64(0x2000), uint64(0), "//anon", id, uint64(3))...)
				b = append(b, perfSample(77, 1<<62, at+1, at+2, at+8)...)
			}
		}
	}
	return b
}

// perfOfMap returns a recording of the process 77, which has written perf-77.map: each function of
// the seeds has samples.
func (s *seeds) perfOfMap() []byte {
	id := []uint32{77, 77}
	b := append(perfHead(), record(3, 0, id, "jit", id, uint64(1))...)
	for _, data := range s.files("cmd/sniffer-perfmap/testdata/*.map") {
		for _, r := range lines(data).records {
			lo, _, _, ok := perfmap.Line(bytes.TrimSpace(data[r.at : r.at+r.size]))
			if ok {
				b = append(b, record(1, 2, id, lo&^0xfff, uint64(0x2000), uint64(0), "//anon", id, uint64(3))...)
				b = append(b, perfSample(77, 100, lo+1, lo+2)...)
			}
		}
	}
	return b
}

// program is a program with a snapshot of a process of it.
type program struct {
	name, path     string
	data, snapshot []byte
	goroutines     bool
}

// programs builds programs of the tree, and saves a process of each.
func (s *seeds) programs() (list []program) {
	if s.sfwalk == "" {
		return nil
	}
	progs := filepath.Join(s.root, "testdata", "progs")
	for _, b := range []struct {
		name  string
		build []string
	}{
		{"inline", []string{"gcc", "-O2", "-g", "-gdwarf-5", "-o", "OUT", progs + "/inline.c", "-lpthread"}},
		{"inline-4", []string{"gcc", "-O2", "-g", "-gdwarf-4", "-gz=zlib", "-o", "OUT", progs + "/inline.c", "-lpthread"}},
		{"rare", []string{"gcc", "-O0", "-g3", "-o", "OUT", progs + "/rarevalues.c"}},
		{"variable", []string{"gcc", "-O0", "-g", "-fdebug-types-section", "-Wno-incompatible-pointer-types", "-o", "OUT", progs + "/variablestructs.c"}},
		{"threads", []string{"gcc", "-O1", "-g", "-o", "OUT", progs + "/threads.c", "-lpthread"}},
		{"containers", []string{"g++", "-std=c++17", "-O0", "-g", "-o", "OUT", progs + "/containers.cc", "-lpthread"}},
		{"broken", []string{"g++", "-std=c++17", "-O0", "-g", "-o", "OUT", progs + "/brokencontainers.cc", "-lpthread"}},
		{"go", []string{"go", "build", "-o", "OUT", "./testdata/progs/govalues"}},
	} {
		p, err := s.program(b.name, b.build)
		if err != nil {
			s.missing = append(s.missing, fmt.Sprintf("%s: %v", b.name, err))
			continue
		}
		p.goroutines = b.name == "go"
		list = append(list, p)
	}
	return list
}

func (s *seeds) program(name string, build []string) (p program, err error) {
	p = program{name: name, path: filepath.Join(s.dir, name)}
	for i := range build {
		if build[i] == "OUT" {
			build[i] = p.path
		}
	}
	c := exec.Command(build[0], build[1:]...)
	c.Dir = s.root
	if out, err := c.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s: %w\n%s", strings.Join(build, " "), err, out)
	}
	if p.data, err = os.ReadFile(p.path); err != nil {
		return p, err
	}
	run := exec.Command(p.path)
	stdin, err := run.StdinPipe() // its end ends the program
	if err != nil {
		return p, err
	}
	stdout, err := run.StdoutPipe()
	if err != nil {
		return p, err
	}
	if err := run.Start(); err != nil {
		return p, err
	}
	defer run.Wait()
	defer stdin.Close()
	for in := bufio.NewReader(stdout); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return p, fmt.Errorf("%s does not get ready: %w", name, err)
		}
		if line == "ready\n" {
			break
		}
	}
	saved := p.path + ".snapshot"
	if out, err := exec.Command(s.sfwalk, "attach", fmt.Sprint(run.Process.Pid), "--save", saved, "--locals").CombinedOutput(); len(out) == 0 {
		return p, fmt.Errorf("attach: %w", err)
	}
	p.snapshot, err = os.ReadFile(saved)
	return p, err
}
