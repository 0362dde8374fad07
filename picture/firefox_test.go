package picture_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/picture"
)

// table is a table of the Firefox Profiler's processed format: columns, and their length.
type table map[string]json.RawMessage

// column returns a column, whose entries must be as many as the table says; null is -2.
func (x table) column(t *testing.T, name string) (list []int) {
	t.Helper()
	var entries []*float64
	var length int
	if err := json.Unmarshal(x[name], &entries); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(x["length"], &length); err != nil || length != len(entries) {
		t.Fatalf("%s has %d entries, its table %d: %v", name, len(entries), length, err)
	}
	for _, e := range entries {
		if e == nil {
			list = append(list, -2)
		} else {
			list = append(list, int(*e))
		}
	}
	return list
}

// A document of the processed format: each table has the columns that src/types/profile of the
// Firefox Profiler has in version 48, all of one length; indices lead to entries that exist; and
// the stacks are the same as went in.
func TestFirefox(t *testing.T) {
	s := example()
	s.Types = append(s.Types, picture.Type{Name: "cpu", Unit: "nanoseconds"})
	for i := range s.Samples {
		s.Samples[i].Values = append(s.Samples[i].Values, int64(i+1)*1_500_000)
		s.Samples[i].Numbers = append(s.Samples[i].Numbers, picture.Number{Key: "pid", Value: 11})
	}
	var file struct {
		Meta    map[string]any
		Libs    []map[string]any
		Threads []struct {
			Name         string
			IsMainThread bool
			PID          any
			TID          int
			StringArray  []string
			Samples, Markers, StackTable, FrameTable, FuncTable, ResourceTable,
			NativeSymbols table
		}
	}
	text := written(t, s, "firefox")
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"preprocessedProfileVersion": 48.0, "symbolicated": true, "interval": 1.0, "stackwalk": 1.0, "processType": 0.0, "product": "/usr/bin/x"} {
		if file.Meta[key] != want {
			t.Errorf("meta.%s is %v, want %v", key, file.Meta[key], want)
		}
	}
	for _, key := range []string{"startTime", "version", "markerSchema", "categories"} {
		if _, ok := file.Meta[key]; !ok {
			t.Errorf("meta has no %s", key)
		}
	}
	if len(file.Libs) != 2 || file.Libs[0]["path"] == file.Libs[1]["path"] {
		t.Fatalf("libs: %v", file.Libs)
	}
	for _, l := range file.Libs {
		if want := map[string]any{"/usr/bin/x": "abcd", "/usr/lib/l.so": "ef01"}[l["path"].(string)]; l["codeId"] != want {
			t.Errorf("%v, want %v", l, want)
		}
	}
	within := func(what string, list []int, length int, or int) {
		t.Helper()
		for _, i := range list {
			if (i < 0 || i >= length) && i != or {
				t.Errorf("%s: %d of %d", what, i, length)
			}
		}
	}
	var got []string
	for i := range file.Threads {
		x := &file.Threads[i]
		strs := len(x.StringArray)
		funcs := x.FuncTable.column(t, "name")
		within("function's name", funcs, strs, -3)
		within("function's file", x.FuncTable.column(t, "fileName"), strs, -2)
		resources := x.ResourceTable.column(t, "lib")
		within("resource's lib", resources, len(file.Libs), -3)
		within("resource's name", x.ResourceTable.column(t, "name"), strs, -3)
		within("function's resource", x.FuncTable.column(t, "resource"), len(resources), -1)
		for _, name := range []string{"lineNumber", "columnNumber"} {
			x.FuncTable.column(t, name)
		}
		frames, depths, lines, addresses := x.FrameTable.column(t, "func"), x.FrameTable.column(t, "inlineDepth"), x.FrameTable.column(t, "line"), x.FrameTable.column(t, "address")
		within("frame's function", frames, len(funcs), -3)
		for _, name := range []string{"category", "subcategory", "nativeSymbol", "innerWindowID", "implementation", "column"} {
			x.FrameTable.column(t, name)
		}
		prefixes, of := x.StackTable.column(t, "prefix"), x.StackTable.column(t, "frame")
		x.StackTable.column(t, "category")
		x.StackTable.column(t, "subcategory")
		within("stack's frame", of, len(frames), -3)
		for i, p := range prefixes {
			if p >= i {
				t.Errorf("stack %d is called by %d", i, p)
			}
		}
		for _, name := range []string{"host", "type"} {
			x.ResourceTable.column(t, name)
		}
		for _, name := range []string{"libIndex", "address", "name", "functionSize"} {
			x.NativeSymbols.column(t, name)
		}
		for _, name := range []string{"data", "name", "startTime", "endTime", "phase", "category"} {
			x.Markers.column(t, name)
		}
		if x.PID != "11" || string(x.Samples["weightType"]) != `"tracing-ms"` {
			t.Errorf("pid %v, weights %s", x.PID, x.Samples["weightType"])
		}
		x.Samples.column(t, "time")
		x.Samples.column(t, "weight")
		for i, at := range x.Samples.column(t, "stack") {
			var names []string
			for ; at >= 0; at = prefixes[at] {
				f := of[at]
				names = append(names, fmt.Sprintf("%s@%#x:%d/%d", x.StringArray[funcs[frames[f]]], addresses[f], lines[f], depths[f]))
			}
			var weights []float64
			if err := json.Unmarshal(x.Samples["weight"], &weights); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %d main=%v %v: %s", x.Name, x.TID, x.IsMainThread, weights[i], strings.Join(names, " ")))
		}
	}
	slices.Sort(got)
	want := []string{
		"a 11 main=true 1.5: l.so+0x1010@0x1010:-2/0 main@0x10:7/0",
		"b 12 main=false 3: l.so+0x1010@0x1010:-2/0 main@0x10:7/0",
		"c 13 main=false 4.5: tiny@0x20:1/1 work; hard@0x20:3/0 main@0x10:7/0",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q\n%s", got, want, text)
	}
}

// The JSON document tells whose code a place is in, and how many samples were lost.
func TestJSONCode(t *testing.T) {
	program := &picture.Module{Path: "/usr/bin/x"}
	s := &picture.Stacks{Program: program.Path, Lost: 7, Types: []picture.Type{{Name: "samples", Unit: "count"}}}
	s.Add([]picture.Place{
		{Function: "a", Code: picture.KernelCode}, {Function: "b", Code: picture.MadeCode}, {Function: "c", Code: picture.LibraryCode},
		{Function: "d", Code: picture.OwnCode}, {Function: "e", Code: picture.LibraryCode, Module: program}, {Name: "[not whole]"},
	}, picture.Sample{Values: []int64{1}})
	var x struct {
		Lost   int
		Places []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(written(t, s, "json")), &x); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, at := range x.Places {
		codes = append(codes, at.Code)
	}
	if want := []string{"kernel", "made at run time", "library", "program", "program", ""}; x.Lost != 7 || !slices.Equal(codes, want) {
		t.Errorf("%d lost, %q, want 7, %q", x.Lost, codes, want)
	}
}

// All that is known is in the JSON document.
func TestJSON(t *testing.T) {
	const want = `{"title":"/usr/bin/x","types":[{"name":"threads","unit":"count"}],` +
		`"modules":[{"path":"/usr/lib/l.so","build_id":"ef01","lo":"0x700000","hi":"0x800000","offset":"0x1000"},{"path":"/usr/bin/x","build_id":"abcd","lo":"0x400000","hi":"0x500000","offset":"0x0"}],` +
		`"places":[{"name":"l.so+0x1010","address":"0x700010","module":0,"code":"library"},{"function":"main","file":"x.c","line":7,"address":"0x400010","module":1,"code":"program"},` +
		`{"function":"tiny","file":"x.h","line":1,"address":"0x400020","module":1,"inlined":true},{"function":"work; hard","file":"x.c","line":3,"address":"0x400020","module":1}],` +
		`"samples":[{"frames":[0,1],"values":[1],"labels":{"thread":"a","tid":11}},{"frames":[0,1],"values":[1],"labels":{"thread":"b","tid":12}},{"frames":[2,3,1],"values":[1],"labels":{"thread":"c","tid":13}}]}` + "\n"
	if got := written(t, example(), "json"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
