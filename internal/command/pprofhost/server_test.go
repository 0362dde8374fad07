package pprofhost

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// What hostile names may have: escapes of terminals, controls of direction, tags of HTML and of dot.
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
	pages := command.Pages{
		Stacks: func() *picture.Stacks { return s },
		Module: func(string, uint64) *target.Module { return nil },
		Locate: func(*target.Module, uint64) []symbol.Location { return nil },
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
