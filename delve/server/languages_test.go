//go:build linux && (amd64 || arm64)

package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/delve/server"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// toy is a language whose functions run in C functions of delvecgo: handle in c_blocks_middle,
// which serve has called in c_blocks. Its run time's own are c_blocks and c_calls_go.
type toy struct {
	exe  string               // the program's file
	file string               // of the source
	at   map[string][2]uint64 // of C's functions
}

func (toy) Name() string              { return "toy" }
func (toy) Wants(*target.Module) bool { return true }

func (d toy) Find(_ *language.Process, m *target.Module) ([]language.Runtime, error) {
	if m.Path != d.exe {
		return nil, nil
	}
	image, bias, err := m.Image()
	if err != nil {
		return nil, err
	}
	d.at = map[string][2]uint64{}
	for _, name := range []string{"c_blocks_middle", "c_blocks", "c_calls_go"} {
		for _, x := range image.Lookup(name, 1) {
			d.at[name] = [2]uint64{x.Addr + bias, x.Addr + x.Size + bias}
		}
	}
	return []language.Runtime{d}, nil
}

// function returns the name of the function of a frame; "" for most.
func (d toy) function(pc uint64) string {
	for name, at := range d.at {
		if at[0] <= pc && pc < at[1] {
			return name
		}
	}
	return ""
}

func (d toy) Decorate(s *language.Stack) (*language.Decoration, error) {
	said := &language.Decoration{Names: map[int]string{}}
	for _, f := range s.Frames {
		sp := f.Register(s.Arch.SP).Bits
		switch d.function(f.AddressInBlock()) {
		case "c_blocks_middle":
			x := language.Frame{Function: "handle", File: d.file, Line: 3}
			if s.Locals {
				x.Args = []language.Variable{{Name: "request", Type: "str", Value: "'r1'"}}
				x.Locals = []language.Variable{{Name: "n", Value: "3\x1b"}}
			}
			cfa, _ := f.CFA()
			said.Groups = append(said.Groups, language.Group{Anchor: language.Anchor{Level: f.Level, PC: f.PC(), CFA: cfa}, Frames: []language.Frame{x}})
		case "c_blocks":
			said.Groups = append(said.Groups, language.Group{Anchor: language.Anchor{Address: sp, Beside: true}, Frames: []language.Frame{{Function: "ser\x1bve"}}})
			said.Own = append(said.Own, f.Level)
		case "c_calls_go":
			said.Names[f.Level] = "Interpreter"
			said.Early = "its stack ends here"
		}
	}
	return said, nil
}

// The real dlv and an editor see frames of a language among frames of C and of Go, with variables
// and source. What Delve has of other frames stays theirs.
func TestLanguages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.toy")
	if err := os.WriteFile(file, []byte("function handle\nprint\nwait\nend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(all bool) server.Options {
		return server.Options{Prepare: func(to *delve.Target) func() {
			to.Decorators, to.AllFrames = []language.Decorator{toy{exe: debuggable(t), file: file}}, all
			return func() {}
		}}
	}
	decorated := func(chain string) string {
		return strings.NewReplacer("C.c_blocks_middle C.c_blocks ", `handle [toy] ser\x1bve [toy] `, "C.c_calls_go ", "Interpreter [toy] ").Replace(chain)
	}
	p := startCgo(t)
	s := serveWith(t, with(false), debugger.Config{AttachPid: p.PID}, true)
	core := filepath.Join(t.TempDir(), "core")
	said := dlv(t, []string{"goroutines -t 100", "dump " + core, "exit -d", "n"}, "connect", s.addr)
	number, want := "", decorated(chains["callback"])
	for _, one := range strings.Split(said[0], "Goroutine ")[1:] {
		if names(t, stackOf(one)) == want {
			number, _, _ = strings.Cut(one, " ")
		}
	}
	if number == "" {
		t.Fatalf("no goroutine is at\n%s\nbut\n%s", want, strings.Join(chainsOf(t, said[0]), "\n"))
	}
	// Parked goroutines have none: C functions do not run on them.
	if parked := chains["thread, parked"]; !slices.Contains(chainsOf(t, said[0]), parked) {
		t.Errorf("no goroutine is at\n%s", parked)
	}
	stack := stackOf(dlv(t, []string{"goroutine " + number, "stack 100", "exit -d", "n"}, "connect", s.addr)[1])
	handle, serve, callback := frameOf(t, stack, "handle [toy]"), frameOf(t, stack, `ser\x1bve [toy]`), frameOf(t, stack, "main.callbackInner")
	commands := []string{
		"goroutine " + number, "frame " + handle + " args", "frame " + handle + " locals", "frame " + handle + " print request",
		"frame " + handle + " print other", "frame " + handle + " list", "frame " + serve + " locals", "frame " + callback + " print n",
		"frame " + handle + " set n = 4", "frame " + handle + " regs", "frame " + callback + " disassemble", "exit -d", "n",
	}
	said = dlv(t, commands, "connect", s.addr)
	for i, want := range map[int]string{
		1: `^request = 'r1'\n$`, 2: `^n = 3\\x1b\n$`, 3: `^'r1'\n$`, 4: `^Command failed: handle \[toy\]: no variable other: of toy, variables are read, and no expressions`,
		5: `=> *3:\s*wait\n`, 6: `^Command failed: ser\\x1bve \[toy\]: a function of toy, of which nothing more is known: no variables`,
		7: `^203\n$`, 8: `^Command failed: handle \[toy\]: a function of toy: no variables that Delve could read`, 9: `Rip = 0x`, 10: `main\.callbackInner`,
	} {
		if !regexp.MustCompile(want).MatchString(said[i]) {
			t.Errorf("(dlv) %s\n%s\nwant %s", commands[i], said[i], want)
		}
	}

	c := connectDAP(t, s.addr)
	id, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	body := c.stackTrace(id, 0, 100)
	if got := names(t, framesOf(body)); got != want {
		t.Errorf("an editor sees\n%s\nwant\n%s", got, want)
	}
	for _, f := range body.StackFrames {
		switch f.Name {
		case "handle [toy]":
			if f.Source == nil || f.Source.Path != file || f.Line != 3 {
				t.Errorf("%+v", f)
			}
			if _, vars := c.variables(f, "Locals"); vars["request"].Value != "'r1'" || vars["request"].Type != "str" || vars["n"].Value != `3\x1b` {
				t.Errorf("%+v", vars)
			}
			if x := c.evaluate(f, "request"); x.Result != "'r1'" {
				t.Errorf("%+v", x)
			}
		case "main.callbackInner":
			if x := c.evaluate(f, "n"); x.Result != "203" {
				t.Errorf("%+v", x)
			}
		}
	}

	// With all frames, the run time's own are there as well.
	all := strings.NewReplacer("C.c_blocks_middle C.c_blocks ", `C.c_blocks_middle handle [toy] C.c_blocks ser\x1bve [toy] `, "C.c_calls_go ", "Interpreter [toy] ").Replace(chains["callback"])
	of := serveWith(t, with(true), debugger.Config{CoreFile: core}, true, debuggable(t))
	got := chainsOf(t, dlv(t, []string{"goroutines -t 100", "exit", "n"}, "connect", of.addr)[0])
	if !slices.Contains(got, all) {
		t.Errorf("no goroutine of the core is at\n%s\nbut\n%s", all, strings.Join(got, "\n"))
	}
}
