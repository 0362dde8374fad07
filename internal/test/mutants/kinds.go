//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/picture"
)

// kind is one format, and the commands that read it.
type kind struct {
	format   string
	name     string // the format and a program, or the format alone
	shape    shapeOf
	seeds    [][]byte
	file     string            // the path of a mutant in its folder
	with     map[string][]byte // further files in the folder, by path
	commands []string          // words with spaces between; FILE is the mutant's path
}

// kinds returns the formats with their seeds. dir is a folder for files that all mutants share.
func kinds(s *seeds) []kind {
	var list []kind
	add := func(k kind) {
		k.name = strings.TrimSpace(k.format + " " + k.name)
		if len(k.seeds) == 0 {
			s.missing = append(s.missing, k.name)
			return
		}
		list = append(list, k)
	}
	common := []string{"", "--json", "--explain", "--registers", "--merge", "--tree --json", "--format folded", "--format flamegraph", "--format speedscope", "--modules --scan"}
	all := func(command string, more ...string) (commands []string) {
		for _, flags := range append(more, common...) {
			commands = append(commands, command+" "+flags)
		}
		return commands
	}
	dumps := s.packed("testdata/breakpad/*.dmp.xz")
	add(kind{format: "minidump", shape: minidumpShape, seeds: append(dumps, s.dump("/prog", false)), file: "x.dmp",
		commands: all("minidump FILE", "--info", "--info --json", "--format breakpad", "--locals", "--format firefox")})
	add(kind{format: "microdump", shape: lines, seeds: s.packed("testdata/breakpad/microdump-*.log.xz"), file: "x.log", commands: all("minidump FILE", "--info")})

	store := "store/prog/" + identifier + "0/prog.sym"
	add(kind{format: "symbols", shape: lines, seeds: s.symbolFiles(), file: store, with: map[string][]byte{"x.dmp": s.dump("/prog", false)},
		commands: append(all("minidump x.dmp --symbols store", "--locals", "--format breakpad", "--no-cache"), "symbols check FILE", "symbols check FILE --json")})
	add(kind{format: "pe", shape: peShape, seeds: s.files("internal/test/mutants/testdata/frames.dll"), file: "frames.dll",
		with: map[string][]byte{"x.dmp": s.dump(`C:\frames.dll`, true)}, commands: all("minidump x.dmp", "--exe frames.dll")})

	var perf []string
	for _, f := range picture.Formats {
		if f.Binary {
			perf = append(perf, "perf FILE --format "+f.Name+" -o out"+f.Suffixes[0])
		} else {
			perf = append(perf, "perf FILE --format "+f.Name+" -o -")
		}
	}
	perf = append(perf, "perf FILE --format firefox -o - --scan")
	add(kind{format: "perf.data", shape: perfShape, seeds: append(s.files("record/testdata/perf/*/perf.data"), s.perfPipe()), file: "perf.data", commands: perf})
	var of []string
	for _, c := range perf {
		of = append(of, strings.ReplaceAll(c, "FILE", "perf.data --sysroot ."))
	}
	add(kind{format: "jitdump", shape: jitdumpShape, seeds: s.files("cmd/sniffer-perfmap/testdata/*.dump"), file: "jit-77.dump",
		with: map[string][]byte{"perf.data": s.perfOfJitdump()}, commands: of})

	add(kind{format: "perf map", shape: lines, seeds: s.files("cmd/sniffer-perfmap/testdata/*.map"), file: "tmp/perf-77.map",
		with: map[string][]byte{"perf.data": s.perfOfMap()}, commands: of})

	values := []string{"--locals", "--args", "--locals --json", "--locals --registers"}
	for _, p := range s.programs() {
		snapshots := "open FILE --exe " + p.path
		flags := values
		if p.goroutines {
			flags = append(flags, "--goroutines", "--goroutines --json", "--goroutines --format folded")
		}
		add(kind{format: "snapshot", name: p.name, shape: elfShape, seeds: [][]byte{p.snapshot}, file: "x.snapshot", commands: all(snapshots, flags...)})
		if len(p.data) < mostSize {
			saved := filepath.Join(s.dir, p.name+".snapshot")
			commands := append(all("open "+saved+" --exe FILE", flags...), "symbols dump FILE", "symbols dump FILE", "symbols dump FILE --like-dump-syms", "sframe gen FILE -o out")
			add(kind{format: "ELF", name: p.name, shape: elfShape, seeds: [][]byte{p.data}, file: "prog", commands: commands})
		}
	}
	add(kind{format: "core", shape: elfShape, seeds: s.files("target/core/testdata/*.core"), file: "x.core", commands: all("core FILE", "--goroutines", "--save out.dmp --format minidump")})
	add(kind{format: "packed core", shape: anyShape, seeds: s.packers("target/core/testdata/amd64-gdb.core"), file: "x.core", commands: []string{"core FILE", "core FILE --max-unpacked 64M"}})
	add(kind{format: "SFrame", shape: elfShape, seeds: s.files("testdata/bin/*-v[23]", "format/cfi/testdata/*.so"), file: "prog",
		commands: []string{"sframe dump FILE", "sframe dump FILE --json", "sframe verify FILE", "sframe verify FILE --json", "sframe gen FILE -o out", "sframe gen FILE -o out --format 2 --verbose", "symbols dump FILE"}})
	return list
}

// place writes a mutant and the files beside it into an empty folder.
func (k *kind) place(dir string, x mutant) error {
	for path, data := range k.with {
		if err := write(filepath.Join(dir, path), data); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, k.file)
	if err := write(path, x.data); err != nil {
		return err
	}
	for size := x.size; size > int64(len(x.data)); size /= 2 {
		if os.Truncate(path, size) == nil { // the file system allows that size
			break
		}
	}
	return nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
