package python_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/language"
)

// otherwise are values that a class writes by code of its own, and what is shown of them.
var otherwise = map[string]string{
	"self": "__main__.Text('me')", "n": "__main__.Number(3)",
}

// TestValues holds the variables of a frame against what repr() says of them in the process.
func TestValues(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			var want map[string]string
			p := says(t, &want, interpreter, "values.py")
			all := decorateAll(t, p.PID, true)
			f := frameOf(all, "values")
			if f == nil {
				t.Fatal("the frame is not found")
			}
			var args []string
			for _, v := range f.Args {
				args = append(args, v.Name)
			}
			if got := strings.Join(args, " "); got != "self n plain key rest more" && got != "self plain key rest more n" {
				t.Errorf("arguments: %s", got)
			}
			got := map[string]string{}
			for _, v := range append(f.Args, f.Locals...) {
				if _, twice := got[v.Name]; twice {
					t.Errorf("%s is there twice", v.Name)
				}
				got[v.Name] = v.Value
			}
			for name, text := range want {
				if other := otherwise[name]; other != "" {
					text = other
				}
				if got[name] != text {
					t.Errorf("%s = %s, repr() says %s", name, got[name], text)
				}
			}
			// What the body of a class or a module imports and defines is no variable of it.
			for of, want := range map[string]string{"Body": "in_class=[1]", "<module>": "lock=" + got["lock_object"]} {
				f := frameOf(all, of)
				if f == nil {
					t.Fatalf("%s is not found", of)
				}
				var list []string
				for _, v := range f.Locals {
					list = append(list, v.Name+"="+v.Value)
				}
				if text := strings.Join(list, " "); text != want {
					t.Errorf("%s: %s, want %s", of, text, want)
				}
			}
			if len(want) < 90 || got["thread"] == "" || got["unset"] != "" {
				t.Errorf("%d variables; thread = %q, unset = %q", len(want), got["thread"], got["unset"])
			}
		})
	}
}

// TestNumpy does so with numpy, of whose arrays the head is shown.
func TestNumpy(t *testing.T) {
	for _, interpreter := range pythonsWith(t, "numpy") {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			var want map[string]string
			p := says(t, &want, interpreter, "numpy_values.py")
			f := frameOf(decorateAll(t, p.PID, true), "values")
			if f == nil {
				t.Fatal("the frame is not found")
			}
			got := map[string]string{}
			for _, v := range f.Locals {
				got[v.Name] = v.Value
			}
			if !maps.Equal(got, want) || len(want) < 10 {
				t.Errorf("%v\nthe program says\n%v", got, want)
			}
		})
	}
}

// frameOf returns the frame of a function that some thread has.
func frameOf(all map[uint64]*decorated, function string) *language.Frame {
	for _, d := range all {
		if d.Said == nil {
			continue
		}
		for _, p := range d.Said.At {
			for i := range p.Frames {
				if p.Frames[i].Function == function {
					return &p.Frames[i].Frame
				}
			}
		}
	}
	return nil
}
