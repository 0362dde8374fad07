package hints_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// file returns a module whose file is that one; "" for none.
func file(t *testing.T, path, from string) *target.Module {
	m := target.NewModule(path, []target.Mapping{{Lo: 0x1000, Hi: 0x2000}}, func() (*elf.Image, error) {
		if from == "" {
			return nil, errors.New("no such file")
		}
		im, f, err := elf.OpenFile(from)
		if err == nil {
			t.Cleanup(func() { f.Close() })
		}
		return im, err
	})
	m.Image()
	return m
}

// seen is a place in code.
type seen struct {
	module   int // index; -1 for code that was made at run time
	function string
}

// What the distributions themselves have in their os-release.
const (
	debian = "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"13\"\nVERSION=\"13 (trixie)\"\nID=debian\n"
	ubuntu = "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n"
	mint   = "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"
	fedora = "NAME=\"Fedora Linux\"\nID=fedora\nVERSION_ID=43\n"
	centos = "NAME=\"CentOS Stream\"\nID=\"centos\"\nID_LIKE=\"rhel fedora\"\n"
	rocky  = "NAME=\"Rocky Linux\"\nID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"
	leap   = "NAME=\"openSUSE Leap\"\nID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n"
	arch   = "NAME=\"Arch Linux\"\nID=arch\n"
	alpine = "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.22.0\n"
	other  = "NAME=\"Slackware\"\nID=slackware\n"
)

func TestLines(t *testing.T) {
	const libc, libxml, server = "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libxml2.so.2", "/srv/app/server"
	for _, test := range []struct {
		name     string
		release  string
		packaged string // a file below the root
		files    []string
		gone     bool // the files are not here
		seen     []seen
		about    hints.About
		want     []string // what each line has in it
	}{
		{name: "names are known", release: debian, files: []string{libc}, seen: []seen{{0, "read"}}},
		{name: "Debian", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, want: []string{"functions of libc.so.6 have no names: install libc6-dbg, or set DEBUGINFOD_URLS=https://debuginfod.debian.net"}},
		{name: "made-up name", release: debian, files: []string{libc}, seen: []seen{{0, "libc.so.6!fn_9a6c0"}}, want: []string{"libc6-dbg"}},
		{name: "Debian, another library", release: debian, files: []string{libxml}, seen: []seen{{0, ""}}, want: []string{"find-dbgsym-packages"}},
		{name: "several", release: debian, files: []string{libc, libxml}, seen: []seen{{1, ""}, {0, ""}}, want: []string{"functions of libc.so.6, libxml2.so.2 have no names: install the packages that find-dbgsym-packages names"}},
		{name: "Ubuntu", release: ubuntu, files: []string{libc}, seen: []seen{{0, ""}}, want: []string{"libc6-dbg, or set DEBUGINFOD_URLS=https://debuginfod.ubuntu.com"}},
		{name: "like Ubuntu", release: mint, files: []string{libc}, seen: []seen{{0, ""}}, want: []string{"https://debuginfod.ubuntu.com"}},
		{name: "Fedora", release: fedora, files: []string{"/usr/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"'dnf debuginfo-install glibc', or set DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org/"}},
		{name: "CentOS", release: centos, files: []string{"/usr/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"'dnf debuginfo-install glibc', or set DEBUGINFOD_URLS=https://debuginfod.centos.org/"}},
		{name: "like RHEL", release: rocky, files: []string{"/usr/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"'dnf debuginfo-install glibc'"}},
		{name: "openSUSE", release: leap, files: []string{"/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"'zypper install glibc-debuginfo'"}},
		{name: "Arch", release: arch, files: []string{"/usr/lib/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{": set DEBUGINFOD_URLS=https://debuginfod.archlinux.org"}},
		{name: "Alpine", release: alpine, files: []string{"/lib/ld-musl-x86_64.so.1"}, seen: []seen{{0, ""}}, want: []string{"'apk add musl-dbg'"}},
		{name: "unknown", release: other, files: []string{"/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{": set DEBUGINFOD_URLS=https://debuginfod.elfutils.org/"}},
		{name: "no os-release", files: []string{"/lib64/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{": set DEBUGINFOD_URLS=https://debuginfod.elfutils.org/"}},
		{name: "another build", release: debian, packaged: "var/lib/dpkg/info/libc6-dbg:amd64.list", files: []string{libc}, seen: []seen{{0, ""}}, want: []string{"libc6-dbg is installed, but of another build"}},
		{name: "of another processor", release: debian, packaged: "var/lib/dpkg/arch", files: []string{"/usr/lib/i386-linux-gnu/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"install libc6-dbg:i386, or"}},
		{name: "of this processor", release: debian, packaged: "var/lib/dpkg/arch", files: []string{libc}, seen: []seen{{0, ""}}, want: []string{"install libc6-dbg, or"}},
		{name: "the second C library", release: debian, packaged: "var/lib/dpkg/info/libc6-dbg:amd64.list", files: []string{"/usr/lib32/libc.so.6"}, seen: []seen{{0, ""}}, want: []string{"functions of libc.so.6 have no names: install the packages that find-dbgsym-packages names"}},
		{name: "in a container", release: fedora, files: []string{"/usr/lib64/libc.so.6"}, seen: []seen{{0, ""}}, about: hints.About{Live: true}, want: []string{"'dnf debuginfo-install glibc' in its container, or"}},
		{name: "servers without it", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, about: hints.About{Servers: true}, want: []string{"the servers of DEBUGINFOD_URLS have no symbols of them: install libc6-dbg"}},
		{name: "servers that cannot be asked", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, about: hints.About{Servers: true, ServersFailed: true}},
		{name: "servers that were not asked", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, about: hints.About{ServersUnasked: true}, want: []string{"without --no-debuginfod"}},
		{name: "held", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, about: hints.About{Servers: true, Held: true}, want: []string{"'debuginfod-find debuginfo "}},
		{name: "no servers, and held", release: debian, files: []string{libc}, seen: []seen{{0, ""}}, about: hints.About{Held: true}, want: []string{"install libc6-dbg, or fetch symbols by 'DEBUGINFOD_URLS=https://debuginfod.debian.net debuginfod-find debuginfo ab12'"}},
		{name: "where libstdc++ begins threads", release: debian, files: []string{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33"}, seen: []seen{{0, ""}}},
		{name: "a program of one's own", release: debian, files: []string{server}, seen: []seen{{0, ""}}, want: []string{"server has no symbols: build it with -g and keep its symbols, or give the folder of its debug file by --debug-dir"}},
		{name: "own and the system's", release: debian, files: []string{server, libc}, seen: []seen{{0, ""}, {1, ""}}, want: []string{"libc6-dbg", "server has no symbols"}},

		{name: "a core without its program", files: []string{server, "/srv/app/libown.so"}, gone: true, seen: []seen{{0, ""}}, about: hints.About{Exe: server, FileFlags: "--sysroot DIR", ExeFlag: "--exe FILE"}, want: []string{"/srv/app/server have no names, for the file is not here: give it by --exe FILE"}},
		{name: "a core without its libraries", files: []string{"/srv/a.so", "/srv/b.so", "/srv/c.so", "/srv/d.so", "/srv/e.so", server}, gone: true, seen: []seen{{0, ""}, {1, ""}, {2, ""}, {3, ""}, {4, ""}, {5, ""}}, about: hints.About{Exe: server, FileFlags: "--sysroot DIR"},
			want: []string{"these files are not here: /srv/app/server, /srv/a.so, /srv/b.so, /srv/c.so and 2 more: give --sysroot DIR"}},
		{name: "a live process whose files are gone", files: []string{server}, gone: true, seen: []seen{{0, ""}}},

		{name: "Node.js, made code", files: []string{"/usr/bin/node"}, seen: []seen{{-1, ""}}, want: []string{"--perf-basic-prof --interpreted-frames-native-stack"}},
		{name: "Node.js, interpreted", files: []string{"/usr/bin/node"}, seen: []seen{{0, "Builtins_InterpreterEntryTrampoline"}}, want: []string{"--perf-basic-prof"}},
		{name: "Node.js with frames of its own", files: []string{"/usr/bin/node"}, seen: []seen{{-1, ""}}, about: hints.About{Languages: []string{"javascript"}}},
		{name: "Node.js in the event loop", files: []string{"/usr/bin/node"}, seen: []seen{{0, "uv_run"}}},
		{name: "Node.js with a map", files: []string{"/usr/bin/node"}, seen: []seen{{-1, "JS:*spin t.js:1"}, {-1, ""}}},
		{name: "Java", files: []string{"/usr/lib/jvm/java-21/lib/server/libjvm.so"}, seen: []seen{{-1, ""}}, about: hints.About{PID: 42}, want: []string{"'jcmd PID Compiler.perfmap'"}},
		{name: "Python", files: []string{"/opt/bin/python3.13"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, want: []string{"start Python 3.12 or later with -X perf"}},
		{name: "Python's library", files: []string{"/opt/lib/libpython3.14.so.1.0"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, want: []string{"-X perf"}},
		{name: "an older Python", files: []string{"/usr/bin/python3.11"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, want: []string{"this is Python 3.11: from 3.12 on, -X perf"}},
		{name: "Python with frames of its own", files: []string{"/opt/bin/python3.13"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, about: hints.About{Languages: []string{"java", "python"}}},
		{name: "Python in samples", files: []string{"/opt/bin/python3.11"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, about: hints.About{Sampled: true}, want: []string{"Python's functions have no names: --wall has them"}},
		{name: "Python beside Java's frames", files: []string{"/opt/bin/python3.13"}, seen: []seen{{0, "_PyEval_EvalFrameDefault"}}, about: hints.About{Languages: []string{"java"}}, want: []string{"-X perf"}},
		{name: "Python that runs no functions", files: []string{"/usr/bin/python3.13"}, seen: []seen{{0, "Py_Main"}, {-1, ""}}},
		{name: "Mono", files: []string{"/usr/bin/mono-sgen"}, seen: []seen{{-1, ""}}, want: []string{"start mono with --jitmap"}},
		{name: "Mono, embedded", files: []string{"/usr/lib/libmonosgen-2.0.so.1.0.0"}, seen: []seen{{-1, ""}}, want: []string{"start mono with --jitmap"}},
		{name: ".NET", files: []string{"/usr/share/dotnet/libcoreclr.so"}, seen: []seen{{-1, ""}}, want: []string{"DOTNET_PerfMapEnabled=1"}},
		{name: "Erlang", files: []string{"/usr/lib/erlang/erts-15/bin/beam.smp"}, seen: []seen{{-1, ""}}, want: []string{"+JPperf true"}},
		{name: "made code of an unknown compiler", files: []string{server}, seen: []seen{{-1, ""}, {0, "main"}}},
		{name: "registered code", files: []string{"/usr/bin/node"}, seen: []seen{{-1, ""}}, about: hints.About{Registered: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := gdbtest.Build(t, "chain.c", "-O1", "-s", "-Wl,--build-id=sha1")
			root := t.TempDir()
			for path, text := range map[string]string{"etc/os-release": test.release, test.packaged: "amd64\ni386\n"} {
				if path = filepath.Join(root, path); path != root && text != "" {
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
			}
			a := test.about
			a.Root, a.Lacks, a.Refused = root, func(*target.Module) []string { return []string{"ab12"} }, func(*target.Module) bool { return false }
			for _, path := range test.files {
				from := program
				if test.gone {
					from = ""
				}
				a.Modules = append(a.Modules, file(t, path, from))
			}
			var s hints.Seen
			for _, x := range test.seen {
				var m *target.Module
				if x.module >= 0 {
					m = a.Modules[x.module]
				}
				s.Add(0x1234, m, x.function)
				s.Add(0x1234, m, x.function) // by another walker
			}
			got := s.Lines(&a)
			if len(got) != len(test.want) {
				t.Fatalf("%d lines: %q", len(got), got)
			}
			for i, want := range test.want {
				if !strings.Contains(got[i].String(), want) || strings.Contains(got[i].String(), "\n") {
					t.Errorf("line %d is %q, want %q in it", i, got[i], want)
				}
			}
		})
	}
}
