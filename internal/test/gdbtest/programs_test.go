//go:build linux

package gdbtest

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"
)

// Each target program, however it is built, reaches the state that its header comment promises, as
// gdb sees it.
func TestPrograms(t *testing.T) {
	flags := func(f ...string) []string { return append([]string{"-g", "-Wa,--gsframe"}, f...) }
	chain := []string{"block", "leaf", "big_args", "no_saves", "saves_all", "saves_rbx", "outer", "main"}
	handler := []string{"block", "on_signal", "<signal>"}
	tests := []struct {
		src   string
		flags []string
		args  []string
		want  []string // physical frames, innermost first
	}{
		{"chain.c", Plain, nil, chain},
		{"chain.c", flags("-O0"), nil, chain},
		{"chain.c", flags("-O2", "-fno-omit-frame-pointer"), nil, chain},
		{"chain.c", flags("-O2", "-static-pie"), nil, chain},
		{"sighandler.c", Plain, []string{"normal", "fault"}, append(handler, "first_instruction", "run", "main")},
		{"sighandler.c", Plain, []string{"alt", "fault"}, append(handler, "first_instruction", "run", "main")},
		{"sighandler.c", Plain, []string{"alt", "middle"}, append(handler, "middle_fault", "run", "main")},
		{"sighandler.c", Plain, []string{"normal", "async"}, append(handler, "spin", "run", "main")},
		{"sighandler.c", Plain, []string{"alt", "async"}, append(handler, "spin", "run", "main")},
		{"sighandler.c", Plain, []string{"alt", "raise"}, handler},
		{"sighandler.c", Plain, []string{"alt", "nested"}, append(handler, "middle_fault", "on_signal", "<signal>", "spin", "run", "main")},
		{"bigframe.c", Plain, nil, []string{"block", "leaf", "frame_1m", "frame_70000", "frame_100k", "main"}},
		{"bigframe.c", append(Plain, "-fstack-clash-protection"), nil, []string{"leaf", "frame_1m", "frame_70000", "frame_100k", "main"}},
		{"realign.c", append(Plain, "-mavx2"), nil, []string{"block", "leaf", "aligned_local", "drap_alloca", "drap_variadic", "forced_align", "with_vla", "with_alloca", "main"}},
		{"tailcall.c", Plain, nil, []string{"block", "leaf", "third", "entry", "main"}},
		{"noreturn.c", append(Plain, "-falign-functions=1", "-fno-toplevel-reorder", "-fno-reorder-functions"), nil, []string{"block", "never_returns", "ends_in_call", "main"}},
		{"nullcall.c", Plain, nil, append(handler, "", "calls_null", "main")},
		{"nocfi.c", Plain, nil, []string{"block", "leaf", "saves"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"smashed"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"data"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"zeroed"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"cycle"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"inward"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"unreadable"}, []string{"block", "leaf", "victim"}},
		{"corrupt.c", flags("-O2", "-fno-omit-frame-pointer"), []string{"handmade"}, []string{"block", "leaf", "victim"}},
	}
	for variant, test := range tests {
		name := strings.Join(append([]string{test.src}, append(test.flags, test.args...)...), " ")
		t.Run(name, func(t *testing.T) {
			Share(t, variant)
			p := Start(t, Build(t, test.src, test.flags...), test.args...)
			var names []string
			for _, f := range Backtrace(t, p.PID)[0].Frames {
				switch {
				case f.Type == "sigtramp":
					names = append(names, "<signal>")
				case f.Physical():
					names = append(names, f.Function)
				}
			}
			if !containsRun(names, test.want...) {
				t.Errorf("functions are %q, want %q in them", names, test.want)
			}
		})
	}
}

// The return address into ends_in_call is the first byte of the next function.
func TestNoreturn(t *testing.T) {
	p := Start(t, Build(t, "noreturn.c", append(Plain, "-falign-functions=1", "-fno-toplevel-reorder", "-fno-reorder-functions")...))
	for _, f := range Backtrace(t, p.PID)[0].Frames {
		if f.Function == "ends_in_call" {
			path := Build(t, "noreturn.c", append(Plain, "-falign-functions=1", "-fno-toplevel-reorder", "-fno-reorder-functions")...)
			if size := functionSize(t, path, "ends_in_call"); f.PC != f.Code+size {
				t.Errorf("PC %#x is not the end of the function, %#x+%#x", f.PC, f.Code, size)
			}
			return
		}
	}
	t.Error("no frame of ends_in_call")
}

func functionSize(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no symbol %s in %s", name, path)
	}
	return symbols[i].Size
}

func TestDlopen(t *testing.T) {
	plugin := Build(t, "plugin.c", append(Plain, "-shared", "-fPIC")...)
	p := Start(t, Build(t, "dlopen.c", Plain...), plugin)
	thread := Backtrace(t, p.PID)[0]
	if names := functionsOf(thread); !containsRun(names, "block", "callback", "plugin_inner", "plugin_entry", "call_plugin", "main") {
		t.Fatalf("functions are %v", names)
	}
	for _, f := range thread.Frames {
		if in := strings.HasPrefix(f.Function, "plugin_"); in != (f.Module == plugin) {
			t.Errorf("%s is in module %q", f.Function, f.Module)
		}
	}
}

func TestBusy(t *testing.T) {
	p := StartRunning(t, Build(t, "busy.c", Plain...), "10")
	loops := func() string {
		if _, err := p.Stdin.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		line, err := p.Stdout.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "loops ") {
			t.Fatalf("busy answered %q, %v", line, err)
		}
		return line
	}
	before := loops()
	p.Stop(t)
	if n := len(Backtrace(t, p.PID)); n != 11 {
		t.Errorf("%d threads, want 11", n)
	}
	p.Continue(t)
	Await(t, "busy goes on", func() bool { return loops() != before })
	if err := p.Exit(t); err != nil {
		t.Errorf("busy ended with %v", err)
	}
}

func TestDeep(t *testing.T) {
	p := Start(t, Build(t, "recurse.c", Plain...), "20000")
	frames := Backtrace(t, p.PID)[0].Frames
	n := 0
	for _, f := range frames {
		if f.Function == "even" || f.Function == "odd" {
			n++
		}
	}
	if n != 20000 || frames[len(frames)-1].Function != "_start" {
		t.Errorf("%d frames of even and odd, the last of all is %+v", n, frames[len(frames)-1])
	}
}
