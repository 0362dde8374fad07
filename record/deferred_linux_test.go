package record_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// deferredScript returns the stacks of the samples of an event that perf script has printed with -F
// tid,time,event,ip,sym,dso: the thread, then the frames from the innermost on, with names where
// the program has them.
func deferredScript(t *testing.T, event string) (stacks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "perf", "deferred", "script.txt"))
	if err != nil {
		t.Fatal(err)
	}
	header := regexp.MustCompile(`^ *(\d+) +[\d.]+: +(\S+): *$`)
	line := regexp.MustCompile(`^\s+([0-9a-f]+) (\S+) \((.*)\)$`)
	for sample := range strings.SplitSeq(strings.Trim(string(text), "\n"), "\n\n") {
		var stack, of string
		for at := range strings.Lines(sample) {
			at = strings.TrimSuffix(at, "\n")
			if m := header.FindStringSubmatch(at); m != nil {
				stack, of = m[1], m[2]
			} else if m := line.FindStringSubmatch(at); m != nil {
				if stack += " " + m[1]; filepath.Base(m[3]) == "deferred" {
					stack += "=" + m[2]
				}
			} else {
				t.Fatalf("%q", at)
			}
		}
		if of == event {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// deferredStacks returns the stacks of an event in the same form. frames of callers are at their
// return addresses there.
func deferredStacks(t *testing.T, data []byte, event string) (stacks []string, stats record.Stats) {
	t.Helper()
	r, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := record.ReadFile(r, record.FileOptions{
		Event: event, Places: record.Places{Caches: []string{filepath.Join(os.Getenv("HOME"), ".debug")}}, Own: func(perfdata.Info) bool { return false },
		Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }, Warn: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := f.Profile()
	shown := p.Picture(names)
	for _, s := range shown.Samples {
		stack := ""
		for _, n := range s.Numbers {
			if n.Key == "tid" {
				stack = fmt.Sprint(n.Value)
			}
		}
		var before *picture.Place
		for _, at := range s.Frames {
			place := &shown.Places[at]
			if place.Address == 0 && strings.HasPrefix(place.Name, "[") {
				stack += " " + place.Name
				continue
			}
			addr := place.Address
			if kernel := addr >= 1<<63; before != nil && kernel == (before.Address >= 1<<63) {
				addr++
			}
			if stack += fmt.Sprintf(" %x", addr); place.Module != nil {
				stack += "=" + place.Function
			}
			before = place
		}
		for range s.Values[0] {
			stacks = append(stacks, stack)
		}
	}
	return stacks, p.Stats
}

// The frames of the program that come in records of their own are as perf script has printed them,
// event by event. perf has lost such frames of a sample that was taken after the record, before the
// thread left the kernel, and takes the cookie for an address.
func TestFileDeferred(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	cache(t, filepath.Join("testdata", "perf", "deferred", "deferred"))
	data, err := os.ReadFile(filepath.Join("testdata", "perf", "deferred", "perf.data"))
	if err != nil {
		t.Fatal(err)
	}
	cookie := regexp.MustCompile(` [0-9a-f]{1,7}0000000[0-9a-f]$`)
	cookies, deep := 0, 0
	for _, event := range []string{"cpu-clock/freq=99/", "context-switches/period=1/"} {
		theirs := deferredScript(t, event)
		ours, stats := deferredStacks(t, data, event)
		if len(ours) != len(theirs) || len(ours) < 40 || stats.Unwalked != uint64(len(ours)) || stats.Bare+stats.Unfollowed+stats.Unread != 0 {
			t.Errorf("%s: %d samples, perf has %d: %+v", event, len(ours), len(theirs), stats)
		}
		for _, want := range theirs {
			if strings.Count(want, "=deeper") == 3 {
				deep++
			}
			i := slices.Index(ours, want)
			if kernel := cookie.ReplaceAllString(want, " "); i < 0 && kernel != want {
				cookies++
				i = slices.IndexFunc(ours, func(stack string) bool {
					return strings.HasPrefix(stack, kernel) && strings.HasSuffix(stack, "=_start")
				})
			}
			if i < 0 {
				t.Errorf("%s: there is no %s", event, want)
				continue
			}
			ours = slices.Delete(ours, i, i+1)
		}
		if len(ours) > 0 {
			t.Errorf("%s: perf has none of\n%s", event, strings.Join(ours, "\n"))
		}
	}
	if cookies != 1 || deep < 10 {
		t.Errorf("%d with cookies, %d deep", cookies, deep)
	}
}

// Where the records never come, each sample has the kernel's frames, and says what is lacking.
func TestFileDeferredLost(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	cache(t, filepath.Join("testdata", "perf", "deferred", "deferred"))
	data, err := os.ReadFile(filepath.Join("testdata", "perf", "deferred", "perf.data"))
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	at := order.Uint64(data[40:])
	for end := at + order.Uint64(data[48:]); at < end; at += uint64(order.Uint16(data[at+6:])) {
		if order.Uint32(data[at:]) == perfevent.RecordCallchainDeferred {
			order.PutUint32(data[at:], 63) // of no kernel
		}
	}
	ours, stats := deferredStacks(t, data, "cpu-clock/freq=99/")
	theirs := deferredScript(t, "cpu-clock/freq=99/")
	if len(ours) != len(theirs) || stats.Unfollowed != uint64(len(ours)) || stats.Bare+stats.Unwalked != 0 {
		t.Errorf("%d samples, perf has %d: %+v", len(ours), len(theirs), stats)
	}
	const mark = " [the frames of the program were to follow in another record, which has not come]"
	for _, stack := range ours {
		kernel, ok := strings.CutSuffix(stack, mark)
		// A thread that ran in the program has its innermost frame.
		if i := slices.IndexFunc(theirs, func(want string) bool { return strings.HasPrefix(want+" ", kernel+" ") }); i < 0 || !ok {
			t.Errorf("perf has no %s", stack)
		} else if fields := strings.Fields(kernel); len(fields) == 1 {
			t.Errorf("no frame of thread %s", strconv.Quote(kernel))
		}
	}
}
