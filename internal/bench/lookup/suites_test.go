//go:build linux

package lookup

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A release is the binutils of one of Debian's suites: one release for each version of SFrame.
type release struct {
	suite      string
	version    sframe.Version
	packages   []string
	processors []processor
	cases      int // at least
}

// A processor is one that a release's tools are for.
type processor struct {
	name    string   // as in the names of the tools and tests
	as, ld  []string // flags
	folders []string // of ld's tests
}

var (
	amd64   = processor{"x86_64", nil, nil, []string{"ld-x86-64", "ld-sframe"}}
	arm64   = processor{"aarch64", nil, nil, []string{"ld-aarch64", "ld-sframe"}}
	arm64be = processor{"aarch64", []string{"-EB"}, []string{"-m", "aarch64linuxb"}, []string{"ld-aarch64"}}
	s390x   = processor{"s390x", nil, nil, []string{"ld-s390", "ld-sframe"}}
)

var releases = []release{
	{"bookworm", sframe.V1, []string{"binutils-x86-64-linux-gnu", "binutils-aarch64-linux-gnu", "libjansson4", "libctf0", "libctf-nobfd0"},
		[]processor{amd64, arm64, arm64be}, 40},
	{"trixie", sframe.V2, []string{"binutils-x86-64-linux-gnu", "binutils-aarch64-linux-gnu", "libjansson4", "libctf0", "libctf-nobfd0", "libsframe1", "libzstd1"},
		[]processor{amd64, arm64, arm64be}, 50},
	{"forky", sframe.V3, []string{"binutils-x86-64-linux-gnu", "binutils-aarch64-linux-gnu", "binutils-s390x-linux-gnu", "libsframe3", "libzstd1"},
		[]processor{amd64, arm64, arm64be, s390x}, 180},
}

// TestSuites runs binutils' own tests of SFrame, from one release for each version of the format:
// gas, ld, readelf and objdump, and libsframe's. Sections that their tools make must be dumped as
// their tools dump them, and as their tests want. Every look-up must equal libsframe's. V3 must
// agree with the DWARF of the same directives, and with the section that fromcfi makes from it.
func TestSuites(t *testing.T) {
	gdbtest.NeedSoak(t)
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, _, err := buildPeer(d, false)
	if errors.Is(err, build.ErrMissing) {
		gdbtest.Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range releases {
		t.Run(r.suite, func(t *testing.T) {
			b, err := d.Binutils(r.suite, r.packages...)
			if errors.Is(err, build.ErrMissing) {
				gdbtest.Missing(t, fmt.Sprintf("binutils of %s: %v", r.suite, err))
			}
			if err != nil {
				t.Fatal(err)
			}
			s := &suite{T: t, Binutils: b, release: r, peer: program}
			for _, p := range r.processors {
				s.processor(p)
			}
			s.compressed()
			if r.version == sframe.V3 {
				s.x32()
				s.libsframe()
			}
			t.Logf("%d cases (%d are not as the release's own tools have it), %d dumps, %d look-ups, %d bytes of code held against DWARF",
				s.cases, s.own, s.dumps, s.lookups, s.compared)
			if s.cases < r.cases || s.dumps < r.cases*2/3 || s.own > s.cases/50 {
				t.Errorf("want at least %d cases", r.cases)
			}
		})
	}
}

// A suite is the state of the tests of one release.
type suite struct {
	*testing.T
	*build.Binutils
	release
	peer string // the program that asks libsframe

	cases, dumps, lookups, compared int
	own                             int // cases that the release does not pass itself
}

// run runs a tool in a folder.
func (s *suite) run(dir string, p processor, tool string, args ...string) (string, error) {
	cmd := s.Command(p.name, tool, args...)
	cmd.Dir = dir
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %q: %w: %s", tool, args, err, problem.String())
	}
	return out.String(), nil
}

// processor runs the tests of gas, ld, readelf and objdump for a processor.
func (s *suite) processor(p processor) {
	gas := filepath.Join(s.Source, "gas/testsuite/gas/cfi-sframe")
	for _, d := range s.tests(gas, "*.d") {
		name := strings.TrimPrefix(d.name, "cfi-sframe-")
		if strings.HasPrefix(name, "common") || strings.HasPrefix(name, p.name) {
			s.dumpTest(d, p, false)
		}
	}
	for _, folder := range p.folders {
		for _, d := range s.tests(filepath.Join(s.Source, "ld/testsuite", folder), "*.d") {
			if strings.Contains(d.dir, "sframe") || strings.Contains(d.name, "sframe") {
				s.dumpTest(d, p, true)
			}
		}
	}
	if p.name == amd64.name {
		for _, d := range s.tests(filepath.Join(s.Source, "binutils/testsuite/binutils-all/x86-64"), "*sframe*.d") {
			s.dumpTest(d, p, false)
		}
	}
}

func (s *suite) tests(dir, pattern string) (list []*dumpTest) {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		s.Fatal(err)
	}
	s.Logf("%s: %d tests", filepath.Join(dir, pattern), len(files))
	for _, file := range files {
		list = append(list, readDumpTest(s.T, file))
	}
	return list
}

// dumpTest makes the object of a test and compares it.
func (s *suite) dumpTest(d *dumpTest, p processor, link bool) {
	if !d.of(p) {
		return
	}
	s.Run(fmt.Sprintf("%s/%s %v", filepath.Base(d.dir), d.name, append([]string{p.name}, p.as...)), func(t *testing.T) {
		out := t.TempDir()
		var objects []string
		for i, source := range d.sources {
			object := filepath.Join(out, fmt.Sprintf("%d.o", i))
			args := append(slices.Clone(p.as), strings.Fields(d.options["as"])...)
			if _, err := s.run(d.dir, p, "as", append(args, "-o", object, source)...); err != nil {
				if d.options["error"] == "" {
					t.Error(err)
				}
				return
			}
			objects = append(objects, object)
		}
		s.cases++
		file := objects[0]
		if link {
			file = filepath.Join(out, "linked")
			args := append(slices.Clone(p.ld), strings.Fields(d.options["ld"])...)
			if _, err := s.run(d.dir, p, "ld", append(append(args, "-o", file), objects...)...); err != nil {
				if d.options["error"] == "" {
					t.Error(err)
				}
				return
			}
		}
		if flags, ok := d.options["objcopy"]; ok {
			copied := filepath.Join(out, "copied")
			if _, err := s.run(d.dir, p, "objcopy", append(strings.Fields(flags), file, copied)...); err != nil {
				t.Fatal(err)
			}
			file = copied
		}
		s.file(t, p, file, d)
	})
}

// compressed compares the objects of V2 that binutils keeps with the output that its readelf should
// have for them.
func (s *suite) compressed() {
	files, err := filepath.Glob(filepath.Join(s.Source, "binutils/testsuite/binutils-all/*/*.sframe.bz2"))
	if err != nil {
		s.Fatal(err)
	}
	s.Logf("%d compressed objects", len(files))
	for _, file := range files {
		s.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			data, err := io.ReadAll(bzip2.NewReader(f))
			if err != nil {
				t.Fatal(err)
			}
			plain := filepath.Join(t.TempDir(), "object")
			if err := os.WriteFile(plain, data, 0o666); err != nil {
				t.Fatal(err)
			}
			d := readDumpTest(t, strings.TrimSuffix(file, ".bz2")+".dump")
			d.options["readelf"] = "--sframe"
			s.cases++
			s.file(t, amd64, plain, d)
		})
	}
}

// x32 compares an object of x32, which the test of ld makes of another.
func (s *suite) x32() {
	s.Run("x32", func(t *testing.T) {
		dir := filepath.Join(s.Source, "ld/testsuite/ld-x86-64")
		out := t.TempDir()
		at := func(name string) string { return filepath.Join(out, name) }
		for _, c := range [][]string{
			{"as", "--64", "--gsframe", "-o", at("64.o"), "sframe.s"},
			{"objcopy", "-O", "elf32-x86-64", at("64.o"), at("32.o")},
			{"ld", "-shared", "--hash-style=both", "--no-rosegment", "-z", "separate-code", "-melf32_x86_64", "-o", at("32.so"), at("32.o")},
		} {
			if _, err := s.run(dir, amd64, c[0], c[1:]...); err != nil {
				t.Fatal(err)
			}
		}
		d := readDumpTest(t, filepath.Join(dir, "sframe.rd"))
		d.options["readelf"] = "--sframe"
		s.file(t, amd64, at("32.so"), d)
		s.file(t, amd64, at("32.o"), nil)
		s.cases += 2
	})
}
