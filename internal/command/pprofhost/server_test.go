package pprofhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	profiling "github.com/sfwalk/sfwalk/internal/command/profile"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// What hostile names may have: escapes of terminals, controls of direction, tags of HTML and of
// dot.
const hostile = "\x1b[2J\u009b31m\x7f\u202e\u2028\ufeff\U000e0041\r\n</script><b>\"\\l"

// TestHostileNames: no page, nor what is downloaded, has a name's controls.
func TestHostileNames(t *testing.T) {
	s := &picture.Stacks{Title: "t" + hostile, Program: "/p" + hostile, Types: []picture.Type{{Name: "samples", Unit: "count"}}, Time: time.Unix(1, 0)}
	m := &picture.Module{Path: "/p" + hostile, BuildID: "b" + hostile, Lo: 0x1000, Hi: 0x2000}
	s.Add([]picture.Place{{Function: "f" + hostile, File: "/s" + hostile, Line: 1, Address: 0x1010, Module: m}, {Function: "main", Address: 0x1020, Module: m}},
		picture.Sample{Values: []int64{5}, Texts: []picture.Text{{Key: "thread", Value: "t" + hostile}}})
	l, err := Server{}.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	pages := profiling.Pages{
		Stacks: func() *picture.Stacks { return s },
		Module: func(string, uint64) *target.Module { return nil },
		Locate: func(*target.Module, uint64) []symbol.Location { return nil },
		Source: func(_ *target.Module, file string) (*os.File, error) { return os.Open(file) },
		Warn: func(format string, args ...any) {
			if text := fmt.Sprintf(format, args...); strings.Contains(text, "connection") {
				t.Error(text)
			}
		},
	}
	go func() { served <- l.Serve(ctx, pages) }()
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	get := func(address string) string {
		t.Helper()
		answer, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %v", address, answer.Status, err)
		}
		return string(text)
	}
	top, _, _ := strings.Cut(l.Address(), "?")
	texts := map[string]string{"": get(l.Address())}
	for _, page := range []string{"top", "flamegraph", "peek?f=."} {
		texts[page] = get(top + page)
	}
	p, err := profile.ParseData([]byte(get(top + "download")))
	if err != nil {
		t.Fatal(err)
	}
	texts["download"] = p.String()
	for page, text := range texts {
		if !strings.Contains(text, "u009b31m") {
			t.Errorf("%s has no names: %q", page, text)
		}
		for i, c := range text {
			if c != '\n' && c != '\t' && !unicode.IsGraphic(c) {
				t.Errorf("%s: %q", page, text[max(0, i-40):min(i+40, len(text))])
				break
			}
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestSources: pprof reads what the pages may, and nothing else: no name leads it to a file by
// another way, whatever folder it runs in, nor has it wait for a pipe.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"open.c", "secret", "x/secret"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("text of "+name+"\nsecond\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	m := &picture.Module{Path: "/bin/p", Lo: 0x1000, Hi: 0x9000}
	s := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	base := filepath.Base(dir)
	for i, file := range []string{
		dir + "/open.c", dir + "/secret", "secret", "x/secret", dir + "/pipe", "/elsewhere/" + base + "/secret", "/proc/self/cwd/secret", "/proc/self/cwd/./secret",
		"../" + base + "/secret", dir + "/x/../secret", "/dev/zero", "//secret", dir, "/" + strings.Repeat("x", 256), "/" + strings.Repeat("x/", 2000), dir + "/open.c/below/../../secret", "/", "..",
	} {
		s.Add([]picture.Place{{Function: fmt.Sprintf("f%d", i), File: file, Line: 1, Address: 0x1000 + uint64(16*i), Module: m}}, picture.Sample{Values: []int64{1}})
	}
	var asked []string
	from := Server{}
	l, err := from.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	go l.Serve(t.Context(), profiling.Pages{
		Stacks: func() *picture.Stacks { return s },
		Module: func(string, uint64) *target.Module { return nil },
		Locate: func(*target.Module, uint64) []symbol.Location { return nil },
		Source: func(_ *target.Module, file string) (*os.File, error) {
			if asked = append(asked, file); file == dir+"/open.c" {
				return os.Open(file)
			}
			return nil, errors.New("that is not allowed")
		},
		Warn: func(string, ...any) {},
	})
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	top, token, _ := strings.Cut(l.Address(), "?")
	for _, f := range []string{"f0$", "."} {
		answer, err := client.Get(top + "source?f=" + url.QueryEscape(f) + "&" + token)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || !strings.Contains(string(text), "text of open.c") {
			t.Errorf("%s: %v\n%s", f, err, text)
		}
		if strings.Contains(string(text), "text of secret") || strings.Contains(string(text), "text of x") {
			t.Errorf("%s: what is not allowed is shown\n%s", f, text)
		}
		if f == "." && strings.Count(string(text), "that is not allowed") < 8 {
			t.Errorf("it is not said why the sources are not there: %s", text)
		}
	}
	if len(asked) < 10 {
		t.Errorf("asked for %q", asked)
	}
}

// FuzzToken: nothing but the token and its cookie lets anybody in.
func FuzzToken(f *testing.F) {
	f.Add("GET", "/top", "127.0.0.1:1", "sfwalk-=x", "")
	f.Add("GET", "/?token=", "localhost", "", "same-origin")
	f.Add("POST", "//x", "[::1]", "sfwalk-=", "none")
	f.Fuzz(func(t *testing.T, method, path, host, cookie, site string) {
		bounds.Hold(t, 64<<10+100*(len(path)+len(host)+len(cookie)), func() { checkToken(t, method, path, host, cookie, site) })
	})
}

func checkToken(t *testing.T, method, path, host, cookie, site string) {
	tok := newToken()
	in := false
	h := tok.check(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { in = true }))
	r, err := http.NewRequest(method, "http://127.0.0.1/", nil)
	if err != nil {
		return
	}
	r.Host, r.URL.Path, r.Header = host, path, http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {site}}
	if _, query, ok := strings.Cut(path, "?"); ok {
		r.URL.RawQuery = query
	}
	w := answerWriter{http.Header{}}
	if h.ServeHTTP(w, r); in || w.Header()["Set-Cookie"] != nil {
		t.Errorf("%q %q of %q with %q is let in", method, path, host, cookie)
	}
}

type answerWriter struct{ h http.Header }

func (w answerWriter) Header() http.Header         { return w.h }
func (w answerWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w answerWriter) WriteHeader(int)             {}
