package gdbtest_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// What gdb printed, as it is (gdb 13).
const fullText = `Thread 2 (Thread 0x7f07 (LWP 43)):
#0  0x00005555 in (anonymous namespace)::space::f(int (*)(char)) (fp=0x1234 <g(char)>, s=..., text=0x1 "a) at b", c=41 ')', big='x' <repeats 16 times>, "y", r=@0x7f: {a = 1, b = 2}, x=<optimized out>, x@entry=5) at a (b).cc:8
        v = {a = 1, b = "} = {"}	<a.cc:5, shadowed>
        v = std::map with 1 element = {[1] = {
            a = 1
          }
        }
#1  <signal handler called>
No locals.
#2  operator() (warning: (Internal error: pc 0x563b in read in CU, but not in symtab.)
__closure=0x7ffd, n=4) at a.cc:3
No locals.
#3  0x00007f12 in read () from /lib/libc.so.6
No symbol table info available.
#4  0x0000000000000000 in ?? ()
`

func TestParseFullText(t *testing.T) {
	threads, err := gdbtest.ParseFull(fullText)
	if err != nil || len(threads) != 1 || threads[0].TID != 43 || len(threads[0].Frames) != 5 {
		t.Fatalf("%+v, %v", threads, err)
	}
	f := threads[0].Frames
	if f[0].Function != "(anonymous namespace)::space::f(int (*)(char))" || f[0].Place != "a (b).cc:8" || f[2].Function != "operator()" || !f[3].Unknown || f[4].Function != "??" {
		t.Errorf("%+v", f)
	}
	if l := f[0].Locals; len(l) != 2 || l[0].Text != `{a = 1, b = "} = {"}` || len(l[1].Text) < 50 {
		t.Errorf("%q", l)
	}
	names := []string{"fp", "s", "text", "c", "big", "r", "x", "x@entry"}
	for i, a := range f[0].Arguments() {
		if i >= len(names) || a.Name != names[i] || a.Text == "" {
			t.Errorf("argument %d: %q", i, a)
		}
	}
	c := gdbtest.CompareFull(threads, threads)
	if c.Values != 12 || c.Equal != 12 || c.Frames != 2 || len(c.Different) != 0 || c.Reordered != 0 {
		t.Errorf("%+v", c)
	}
}

func TestCompareFull(t *testing.T) {
	parse := func(text string) []gdbtest.FullThread {
		threads, err := gdbtest.ParseFull("Thread 5 \"x\"\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		return threads
	}
	want := parse("#0  f (a=1, b=2) at x.c:1\n        x = 1\n        y = 2\n        x = 3\n")
	for _, tt := range []struct {
		got                         string
		equal, different, reordered int
	}{
		{"#0  f (a=1, b=2) at x.c:1\n        x = 1\n        y =   2\n        x = 3\n", 5, 0, 0},
		{"#0  f (a=1, b=3) at x.c:1 [guess]\n        y = 2\n        x = 1\n        x = 3\n", 4, 1, 1},
		{"#0  f (a=1) at x.c:1\n        x = 1\n        y = 2\n        z = 5\n", 3, 3, 0},
		{"", 0, 5, 0},
		{"#0  f (a=1, b=2) at x.c:1\n        x = 0\n        x = 1\n        y = 2\n        x = 3\n", 5, 1, 0},
	} {
		if c := gdbtest.CompareFull(want, parse(tt.got)); c.Values != 5 || c.Equal != tt.equal || len(c.Different) != tt.different || c.Reordered != tt.reordered {
			t.Errorf("%q: %+v", tt.got, c)
		}
	}
}

func FuzzParseFull(f *testing.F) {
	f.Add(fullText)
	f.Add("Thread 1 \"x\"\n#0  main+0x1f (/usr/bin/x)\n#1  f (")
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 1<<20+200*len(text), func() {
			threads, err := gdbtest.ParseFull(text)
			if err == nil {
				gdbtest.CompareFull(threads, threads)
			}
		})
	})
}
