package external_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// TestNoPlugin: the error for a program that is no plug-in says at once what it is.
func TestNoPlugin(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "socket")
	l, err := net.Listen("unix", pipe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for _, c := range []struct {
		path  string
		want  error
		words []string
	}{
		{"/bin/true", external.ErrStart, []string{"exit status 0", "no plug-in"}},
		{"/bin/false", external.ErrStart, []string{"exit status 1"}},
		{"/bin/cat", external.ErrStart, []string{"within"}}, // waits for its standard input
		{"/usr/bin/yes", external.ErrStart, []string{`says "y"`}},
		{dir, external.ErrStart, []string{"not a regular file"}},
		{pipe, external.ErrStart, []string{"not a regular file"}},
		{filepath.Join(dir, "missing"), os.ErrNotExist, nil},
		{file("text", "hello", 0o600), external.ErrStart, []string{"chmod +x"}},
		{file("text+x", "hello", 0o700), external.ErrStart, []string{"exec format error"}},
		{file("empty+x", "", 0o700), external.ErrStart, nil},
		{file("script", "#!/no/such/interpreter\n", 0o700), external.ErrStart, []string{"no such file"}},
		{file("no\x1b[31m", "", 0o600), external.ErrStart, nil},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			t.Parallel()
			limit := patience
			if slices.Contains(c.words, "within") {
				limit = 500 * time.Millisecond
			}
			p, err := external.Start(context.Background(), external.Options{Path: c.path, StartTimeout: limit})
			if err == nil {
				p.Close()
				t.Fatal("no error")
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v: want %v", err, c.want)
			}
			if strings.ContainsRune(c.path, '\x1b') {
				return // the user names such a file on purpose
			}
			says(t, err, c.path, c.words...)
		})
	}
}

// TestBadStart: plug-ins that do not describe themselves, or describe themselves wrongly.
func TestBadStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	const short = 500 * time.Millisecond // for plug-ins that hang
	for _, c := range []struct {
		mode  string
		limit time.Duration
		want  error
		words []string
	}{
		{"hs-exit", 0, external.ErrStart, []string{"exit status 0", "no licence was found"}},
		{"hs-exit3", 0, external.ErrStart, []string{"exit status 3", "no licence was found"}},
		{"hs-crash", 0, external.ErrStart, []string{"signal: killed", "it goes wrong"}},
		{"hs-stopped", short, external.ErrStart, []string{"within"}},
		{"hs-never", short, external.ErrStart, []string{"within"}},
		{"hs-cookie", 0, external.ErrStart, []string{"exit status 1", "This binary is a plugin."}},
		{"hs-garbage", 0, external.ErrStart, []string{"Welcome to"}},
		{"hs-huge", short, external.ErrStart, nil},
		{"hs-core", 0, external.ErrStart, []string{"version"}},
		{"hs-nowhere", short, external.ErrStart, []string{"/tmp/no-such-socket"}},
		{"hs-tcp", short, external.ErrStart, []string{l.Addr().String()}},
		{"hs-netrpc", short, external.ErrStart, nil},
		{"hs-version7", 0, external.ErrVersion, []string{"version 7", "version 1", "update sfwalk"}},
		{"hs-deaf", short, external.ErrStart, nil},
		{"hs-cert", 0, external.ErrStart, []string{"cert"}},
		{"hs-plain", 0, external.ErrStart, []string{"TLS"}},
		{"describe-hang", short, external.ErrStart, []string{"within"}},
		{"describe-stop", short, external.ErrStart, []string{"within"}},
		{"describe-crash", 0, external.ErrCrash, []string{"signal: killed", "it goes wrong"}},
		{"describe-panic", 0, external.ErrCrash, []string{"exit status 2"}},
		{"describe-exit", 0, external.ErrCrash, []string{"exit status 0"}},
		{"describe-error", 0, external.ErrStart, []string{"no such thing"}},
		{"describe-no-name", 0, external.ErrNonsense, []string{`""`, "a-z"}},
		{"describe-name-builtin", 0, external.ErrNonsense, []string{"sframe"}},
		{"describe-name-spaces", 0, external.ErrNonsense, []string{"my sniffer"}},
		{"describe-name-escapes", 0, external.ErrNonsense, []string{"a-z"}},
		{"describe-name-long", 0, external.ErrNonsense, []string{"32"}},
		{"describe-name-huge", 0, external.ErrStart, nil},
		{"describe-version-huge", 0, external.ErrStart, nil},
		{"describe-pattern", 0, external.ErrNonsense, []string{"lib[a-"}},
		{"describe-patterns", 0, external.ErrNonsense, []string{"100000", "256"}},
		{"describe-needs", 0, external.ErrNonsense, []string{"65536", "4096"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			path := plugintest.Path(t, c.mode)
			if err := plugintest.SetArg(path, l.Addr().String()); err != nil {
				t.Fatal(err)
			}
			o := external.Options{Path: path, StartTimeout: cmp.Or(c.limit, patience)}
			_, err := external.Start(context.Background(), o)
			// A plug-in that hangs must first have come to the place where it hangs.
			for ; err != nil && o.StartTimeout < patience && !saysAll(err, c.words); o.StartTimeout *= 2 {
				_, err = external.Start(context.Background(), o)
			}
			if err == nil {
				t.Fatal("no error")
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v: want %v", err, c.want)
			}
			says(t, err, path, c.words...)
			noneLeft(t, path)
		})
	}
}

func saysAll(err error, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(err.Error(), word) })
}

// TestOddDescription: how the host reads odd descriptions that a plug-in may give.
func TestOddDescription(t *testing.T) {
	for _, mode := range []string{"describe-version-odd", "describe-before-odd", "describe-before-nobody", "describe-arch-unknown"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, mode, external.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := p.Description
			for _, text := range append([]string{d.Name, d.Version, d.Before}, d.Architectures...) {
				printable(t, "description", text)
			}
		})
	}
}

// TestStartCancelled: the caller can cancel a start.
func TestStartCancelled(t *testing.T) {
	t.Parallel()
	path := plugintest.Path(t, "hs-never")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	p, err := external.Start(ctx, external.Options{Path: path, StartTimeout: time.Minute})
	if err == nil {
		p.Close()
		t.Fatal("no error")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	noneLeft(t, path)
}

// TestChecksum: only the program that was pinned is started.
func TestChecksum(t *testing.T) {
	t.Parallel()
	path := plugintest.Path(t, "declines")
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	right := hex.EncodeToString(sum[:])
	p, err := external.Start(context.Background(), external.Options{Path: path, SHA256: right})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	for _, pinned := range []string{strings.Repeat("0", 64), right[:62], right + "00", "not hexadecimal", right[1:] + "g"} {
		p, err := external.Start(context.Background(), external.Options{Path: path, SHA256: pinned})
		if err == nil {
			p.Close()
			t.Fatalf("started with the checksum %q", pinned)
		}
		if !errors.Is(err, external.ErrChecksum) {
			t.Errorf("%v: want %v", err, external.ErrChecksum)
		}
		says(t, err, path)
	}
	_, err = external.Start(context.Background(), external.Options{Path: path, SHA256: strings.Repeat("0", 64)})
	says(t, err, path, right)
	// A program that was changed since.
	other := filepath.Join(t.TempDir(), "sniffer-declines")
	if err := os.WriteFile(other, append(program, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := external.Start(context.Background(), external.Options{Path: other, SHA256: right}); !errors.Is(err, external.ErrChecksum) {
		t.Errorf("%v: want %v", err, external.ErrChecksum)
	}
}

// TestStartMemory: endless output of a plug-in is not kept.
func TestStartMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if _, err := start(t, "hs-huge", external.Options{StartTimeout: 500 * time.Millisecond}); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d MB were allocated for 64 MB of nonsense", grown>>20)
	}
}
