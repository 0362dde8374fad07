package v8_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/npm"
)

// chromiums returns Chromium of packages: npm's, and the one of this machine if its V8 is known. By
// hand, one may also be the PID of a process that runs the page, as CEF's does.
func chromiums(t *testing.T) (list []string) {
	t.Helper()
	if list := os.Getenv("SFWALK_CHROMIUMS"); list != "" {
		return strings.Split(list, ":")
	}
	gdbtest.NeedSoak(t)
	node := gdbtest.Tool(t, "node")
	for spec, sum := range map[string]string{
		"@sparticuz/chromium@138.0.2": "fb4ffb1d25cb5db3ff74211b0c63c85861a19a090045227e6648c3c4bc6321e6", // V8 13.8
		"@sparticuz/chromium@140.0.0": "6b36e3ab1fa1d84787a5ae0615c4aae861ccaf4b6a8c8cbf93b40205e05cde18", // V8 14.0
		"@sparticuz/chromium@147.0.2": "3abf8e491155e0030d375427f4383a1b363cb1782d0b0ce8545c19b40efb1ba4", // V8 14.7
		"@sparticuz/chromium@148.0.0": "673b12a186e569ea600d87d3200fb5a6f1a14639bc19b06fb6fdb6fc86a8195b", // V8 14.8
		"@sparticuz/chromium@149.0.0": "c74b05fb40abd605c245f6ab33ec324aa9510c7b3eca3ec35740fab767960c03", // V8 14.9
		"@sparticuz/chromium@152.0.0": "b0ce278bb465f537e3fa47615fda394ad54e5ba1c1e800b452252a1ea7c9cd46", // V8 15.2
		"@sparticuz/chromium@153.0.0": "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0", // V8 15.3
	} {
		const packed = "bin/chromium.br"
		p := npm.Package{Spec: spec, Sum: sum, Keep: func(name string) (file string, mode os.FileMode) {
			if name == packed {
				return name, 0o644
			}
			return "", 0
		}}
		dir, err := p.Folder()
		gdbtest.FromNPM(t, err)
		program := filepath.Join(t.TempDir(), "chromium")
		const unpack = `const fs = require("fs"), [from, to] = process.argv.slice(1);
			fs.writeFileSync(to, require("zlib").brotliDecompressSync(fs.readFileSync(from)), { mode: 0o755 })`
		if said, err := exec.Command(node, "-e", unpack, filepath.Join(dir, packed), program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		list = append(list, program)
	}
	own := gdbtest.Tool(t, "chromium")
	said, err := exec.Command(own, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	milestone := regexp.MustCompile(`\d{3}`).FindString(string(said))
	if milestone == "" {
		t.Fatalf("%q", said)
	}
	if _, err := os.Stat(fmt.Sprintf("constants/%s.%s.packed", milestone[:2], milestone[2:])); err == nil {
		list = append(list, own)
	} else {
		t.Logf("%s has a V8 that is not known", said)
	}
	return list
}

// announcementMark is how the page's array of announcements begins; behind it they are as in a
// file.
const (
	announcementMark = "sfwalk announces  announces .."
	announcementAt   = 64
)

// page is a page in Chromium.
type page struct {
	*gdbtest.Process // in which it runs
	memory           *os.File
	at               int64 // of its announcements
}

// open starts Chromium, with flags of V8's, and opens a page of stops.js in it.
func open(t *testing.T, chromium string, flags []string) *page {
	t.Helper()
	if pid, err := strconv.Atoi(chromium); err == nil {
		p := pageIn(pid)
		if p == nil {
			t.Fatalf("%d has announced no stack", pid)
		}
		t.Cleanup(func() { p.memory.Close() })
		return p
	}
	dir := t.TempDir()
	for _, name := range []string{"browser.js", "stops.js"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	html := filepath.Join(dir, "page.html")
	if err := os.WriteFile(html, []byte(`<!DOCTYPE html><script src="browser.js"></script><script src="stops.js"></script>`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-hang-monitor", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--remote-debugging-port=0", "--js-flags="+strings.Join(flags, " "), "file://"+html)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its children
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	var p *page
	gdbtest.Await(t, "a page has announced a stack", func() bool {
		for _, pid := range renderers(cmd.Process.Pid) {
			if p == nil {
				p = pageIn(pid)
			}
		}
		return p != nil
	})
	t.Cleanup(func() { p.memory.Close() })
	return p
}

// renderers returns the processes of a group in which Chromium runs pages.
func renderers(group int) (list []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if of, err := syscall.Getpgid(pid); err != nil || of != group {
			continue
		}
		if line, _ := os.ReadFile(name); bytes.Contains(line, []byte("--type=renderer")) {
			list = append(list, pid)
		}
	}
	return list
}

// pageIn finds the announcements of a page in the memory of a process, nil if it has made none yet.
func pageIn(pid int) *page {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil
	}
	const most = 64 << 20 // bytes of a mapping
	for line := range strings.Lines(string(maps)) {
		var lo, hi int64
		if n, _ := fmt.Sscanf(line, "%x-%x", &lo, &hi); n < 2 || hi-lo > most || !strings.Contains(line, " rw-p ") {
			continue
		}
		room := make([]byte, hi-lo)
		if n, _ := memory.ReadAt(room, lo); n < len(room) {
			continue
		}
		for at := 0; ; at++ {
			next := bytes.Index(room[at:], []byte(announcementMark))
			if next < 0 {
				break
			}
			at += next
			const digits = 12
			number, _, _ := bytes.Cut(room[min(len(room), at+announcementAt):min(len(room), at+announcementAt+digits+1)], []byte("\n"))
			if n, err := strconv.Atoi(strings.TrimSpace(string(number))); err == nil && n > 0 && len(number) == digits {
				return &page{&gdbtest.Process{PID: pid}, memory, lo + int64(at)}
			}
		}
	}
	memory.Close()
	return nil
}

// TestChromium is TestStops of a page in Chromium, whose V8 packs its values.
func TestChromium(t *testing.T) {
	for _, chromium := range chromiums(t) {
		for _, flags := range compilers {
			t.Run(fmt.Sprint(strings.TrimPrefix(chromium, "/"), flags), func(t *testing.T) {
				p := open(t, chromium, flags)
				compareStops(t, p.Process, 120, func() ([]frame, bool) {
					room := make([]byte, 64<<10)
					n, _ := p.memory.ReadAt(room, p.at+announcementAt)
					return announcedIn(t, string(room[:n]))
				})
			})
		}
	}
}
