package main

import (
	"context"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// received is what a receiver has got: samples by the innermost of the program's own functions that
// have shares of the time.
type received struct {
	mu       sync.Mutex
	t        *testing.T
	enough   func()
	parts    int
	samples  map[string]int64
	lastTime int64
}

// add counts the stack of a sample, whose functions are named from inside to outside.
func (r *received) add(functions []string, n int64) {
	shared := []string{"half", "three_tenths", "one_fifth"}
	if i := slices.IndexFunc(functions, func(f string) bool { return slices.Contains(shared, f) }); i >= 0 {
		r.samples[functions[i]] += n
		if !slices.Contains(functions[i:], "deeper") {
			r.t.Errorf("the stack %v does not come from deeper", functions)
		}
	}
}

func (r *received) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts++; r.parts == 1 { // a receiver may be out of order for a while
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	var at int64
	if req.URL.Path == "/ingest" {
		at = r.pprof(req, body)
	} else {
		at = r.otlp(body)
	}
	if at <= r.lastTime {
		r.t.Errorf("a profile of %d comes after one of %d", at, r.lastTime)
	}
	r.lastTime = at
	var all int64
	for n := range maps.Values(r.samples) {
		all += n
	}
	if r.parts >= 4 && all >= 500 {
		r.enough()
	}
}

// pprof reads a profile by pprof's own library.
func (r *received) pprof(req *http.Request, body []byte) int64 {
	p, err := profile.ParseData(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if q := req.URL.Query(); q.Get("format") != "pprof" || q.Get("from") == "" || q.Get("until") == "" || !strings.HasPrefix(q.Get("name"), "sfwalk.pid.") {
		r.t.Errorf("query %v", q)
	}
	for _, s := range p.Sample {
		var functions []string
		for _, l := range s.Location {
			for _, line := range l.Line {
				functions = append(functions, line.Function.Name)
			}
		}
		r.add(functions, s.Value[0])
		if len(s.NumLabel["tid"]) != 1 || s.Label["thread"] == nil {
			r.t.Errorf("labels %v %v", s.Label, s.NumLabel)
		}
	}
	return p.TimeNanos
}

// otlp reads profiles by the library of OpenTelemetry's collector.
func (r *received) otlp(body []byte) int64 {
	req := pprofileotlp.NewExportRequest()
	if err := req.UnmarshalProto(body); err != nil {
		r.t.Fatal(err)
	}
	all := req.Profiles()
	d := all.Dictionary()
	texts := d.StringTable()
	var at int64
	for _, rp := range all.ResourceProfiles().All() {
		if pid, ok := rp.Resource().Attributes().Get("process.pid"); !ok || pid.Int() <= 0 {
			r.t.Errorf("resource %v", rp.Resource().Attributes().AsRaw())
		}
		for _, sp := range rp.ScopeProfiles().All() {
			if sp.Profiles().Len() != 2 {
				r.t.Errorf("%d profiles", sp.Profiles().Len())
			}
			for _, p := range sp.Profiles().All() {
				if texts.At(int(p.SampleType().TypeStrindex())) != "samples" {
					continue
				}
				at = int64(p.Time())
				for _, s := range p.Samples().All() {
					r.add(functionsOf(d, s), s.Values().At(0))
					labels, err := pprofile.FromAttributeIndices(d.AttributeTable(), s, d)
					if tid, ok := labels.Get("thread.id"); err != nil || !ok || tid.Int() <= 0 {
						r.t.Errorf("labels %v: %v", labels.AsRaw(), err)
					}
				}
			}
		}
	}
	for i, m := range d.MappingTable().All() {
		build, err := pprofile.FromAttributeIndices(d.AttributeTable(), m, d)
		if _, ok := build.Get("process.executable.build_id.gnu"); i > 0 && (err != nil || !ok || m.MemoryStart() >= m.MemoryLimit()) {
			r.t.Errorf("mapping %d, %s: %v %v", i, texts.At(int(m.FilenameStrindex())), build.AsRaw(), err)
		}
	}
	return at
}

func functionsOf(d pprofile.ProfilesDictionary, s pprofile.Sample) (list []string) {
	for _, i := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
		for _, line := range d.LocationTable().At(int(i)).Lines().All() {
			list = append(list, d.StringTable().At(int(d.FunctionTable().At(int(line.FunctionIndex())).NameStrindex())))
		}
	}
	return list
}

// Receivers get what the program's time is, by its own clock: as pprof, read by pprof's library,
// and as OTLP, read by the collector's.
func TestReceivers(t *testing.T) {
	gdbtest.CanRecord(t)
	program := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	for _, path := range []string{"/ingest", "/v1development/profiles"} {
		t.Run(path[1:3], func(t *testing.T) {
			p := gdbtest.StartRunning(t, program, "2", "40")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := &received{t: t, enough: cancel, samples: map[string]int64{}}
			server := httptest.NewServer(r)
			defer server.Close()
			s := sender{url: server.URL + path, pid: p.PID}
			send := s.pprof
			if path != "/ingest" {
				send = s.otlp
			}
			if err := sample(ctx, p.PID, 499, 300*time.Millisecond, send); err != nil {
				t.Fatal(err)
			}
			var all float64
			for n := range maps.Values(r.samples) {
				all += float64(n)
			}
			t.Logf("%v in %d parts", r.samples, r.parts)
			for name, want := range map[string]float64{"half": 0.5, "three_tenths": 0.3, "one_fifth": 0.2} {
				// Samples are taken about independently of where the program is: four standard
				// deviations.
				if off := math.Abs(float64(r.samples[name])/all - want); off > 4*math.Sqrt(want*(1-want)/all)+0.01 {
					t.Errorf("%s has %d of %v samples, want %v", name, r.samples[name], all, want)
				}
			}
		})
	}
}

// Names that are no UTF-8 do not stop it.
func TestNames(t *testing.T) {
	var stacks picture.Stacks
	stacks.Types = []picture.Type{{Name: "samples", Unit: "count"}}
	stacks.Add([]picture.Place{{Function: "a\xff", File: "b\xfe", Inlined: true, Address: 1}, {Function: "c", Address: 1}, {Address: 2}},
		picture.Sample{Values: []int64{1}, Texts: []picture.Text{{Key: "k\xff", Value: "v\xff"}}})
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { body, _ = io.ReadAll(req.Body) }))
	defer server.Close()
	if err := (&sender{url: server.URL, pid: 1}).otlp(&stacks); err != nil {
		t.Fatal(err)
	}
	req := pprofileotlp.NewExportRequest()
	if err := req.UnmarshalProto(body); err != nil {
		t.Fatal(err)
	}
	d := req.Profiles().Dictionary()
	s := req.Profiles().ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
	if got := functionsOf(d, s); !slices.Equal(got, []string{"a\uFFFD", "c", "??"}) {
		t.Errorf("functions %q", got)
	}
	if n := d.StackTable().At(int(s.StackIndex())).LocationIndices().Len(); n != 2 {
		t.Errorf("%d locations, want one of an inlined call and its caller, and one more", n)
	}
}
