package external_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugincheck"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// frozen is the folder with the plug-in for the protocol's first version.
const frozen = "../../plugin/testdata/v1"

// TestFrozenVersion1 builds a plug-in for the protocol's first version, as its author did then, and
// runs it with today's host.
func TestFrozenVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sniffer-v1")
	cmd := exec.Command(gdbtest.Tool(t, "go"), "build", "-o", path, ".")
	cmd.Dir, cmd.Env = frozen, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", frozen, err, out)
	}
	t.Run("answers", func(t *testing.T) { frozenAnswers(t, path) })
	t.Run("unknown version", func(t *testing.T) { unknownVersion(t, path) })
	t.Run("messages", wireCompatible)
}

// frozenAnswers has the plug-in unwind a process, by a row and by a frame, and compares the stack
// with gdb's.
func frozenAnswers(t *testing.T, path string) {
	gdbtest.NeedAMD64(t)
	program, err := filepath.Abs(filepath.Join(frozen, "program/three.c"))
	if err != nil {
		t.Fatal(err)
	}
	process := gdbtest.Start(t, gdbtest.Compile(t, program, gdbtest.Tool(t, "cc"), "-O0", "-fno-omit-frame-pointer", "-fcf-protection=none"))
	want := gdbtest.Backtrace(t, process.PID, gdbtest.WithRegisters())[0].Frames

	asked := map[string]int{} // questions, by the answer's kind
	requests := 0
	p, err := external.Start(context.Background(), external.Options{Path: path, StartTimeout: patience, Deadline: patience, Trace: func(x external.Exchange) {
		requests += x.Requests
		switch a := x.Answer; {
		case a.GetRow() != nil:
			asked["row"]++
		case a.GetFrame() != nil:
			asked["frame"]++
		case a.GetDeclines() != "":
			asked["decline"]++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.Protocol != 1 || p.Description.Name != "frozen-v1" {
		t.Errorf("%s speaks version %d, want frozen-v1 and 1", p.Description.Name, p.Protocol)
	}

	tg, err := live.Attach(context.Background(), process.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := sniffer.Table(tg.Arch())
	s := p.Sniffer(external.Target{PID: process.PID, Live: true})
	external.Insert(table, s)
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	claimed := map[string]string{}
	n := 0
	for f, err := range stack.All() {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) {
			t.Fatalf("more frames than gdb's %d: %v", len(want), f)
		}
		w := want[n]
		n++
		if cfa, _ := f.CFA(); f.PC() != w.PC || w.CFA != 0 && cfa != w.CFA { // gdb has none for the outermost
			t.Errorf("%v, CFA %#x: gdb has %s at %#x, CFA %#x", f, cfa, w.Function, w.PC, w.CFA)
		}
		for _, r := range []int{6, 7, 16} { // rbp, rsp, RIP: a frame tells of no others
			if v := f.Register(trad.Reg(r)); !v.Known() || v.Bits != w.Registers[r] {
				t.Errorf("%v: register %d is %v, gdb has %#x", f, r, v, w.Registers[r])
			}
		}
		claimed[w.Function] = f.Sniffer()
	}
	if n != len(want) {
		t.Errorf("%d frames, gdb has %d", n, len(want))
	}
	for function, by := range map[string]string{"leaf": "frozen-v1", "middle": "frozen-v1", "outer": "dwarf", "main": "dwarf"} {
		if claimed[function] != by {
			t.Errorf("%s was claimed by %q, want %s", function, claimed[function], by)
		}
	}
	// leaf's frame has come with a row, middle's with a frame after one Read, outer's or
	// _start's not at all.
	if asked["row"] != 1 || asked["frame"] != 1 || asked["decline"] == 0 || requests == 0 {
		t.Errorf("answers %v after %d requests, want a row, a frame and a decline", asked, requests)
	}
	for _, f := range want {
		if f.Function == "leaf" {
			if name, ok := s.Symbol(f.PC-1, f.CFA); !ok || name.Function != "leaf, says version 1" {
				t.Errorf("leaf is called %v", name)
			}
		}
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	report, err := plugincheck.Run(context.Background(), path, plugincheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() || report.Protocol != 1 {
		var text strings.Builder
		report.Write(&text)
		t.Errorf("it is not a good plug-in any more:\n%s", &text)
	}
}

// unknownVersion has the plug-in speak a version that does not exist.
func unknownVersion(t *testing.T, path string) {
	other := path + "-v7"
	if err := os.Link(path, other); err != nil {
		t.Fatal(err)
	}
	p, err := external.Start(context.Background(), external.Options{Path: other, StartTimeout: patience, Deadline: patience})
	if err == nil {
		p.Close()
	}
	if !errors.Is(err, external.ErrVersion) {
		t.Fatalf("got %v, want %v", err, external.ErrVersion)
	}
	// The message says which side the user must replace.
	for _, part := range []string{other, "7", "1", "sfwalk"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// wireCompatible compares the protocol with its first version. Each old field is still there,
// with the same number and the same type, so that old plug-ins and new hosts, and new plug-ins
// and old hosts, read each other's messages.
func wireCompatible(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(frozen, "sniffer.binpb"))
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil || len(set.File) != 1 {
		t.Fatalf("%d files described, %v", len(set.File), err)
	}
	was, err := protodesc.NewFile(set.File[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	is := protocol.File_sniffer_proto
	if was.Package() != is.Package() || was.Syntax() != is.Syntax() {
		t.Errorf("package %s, %v; was %s, %v", is.Package(), is.Syntax(), was.Package(), was.Syntax())
	}
	messages, enums, fields := sameMessages(t, was.Messages(), is.Messages()), sameEnums(t, was.Enums(), is.Enums()), 0
	for i := range was.Messages().Len() {
		fields += was.Messages().Get(i).Fields().Len()
	}
	if messages < 20 || enums < 1 || fields < 100 {
		t.Errorf("the first version had only %d messages with %d fields and %d enums?", messages, fields, enums)
	}
	for i := range was.Services().Len() {
		w := was.Services().Get(i)
		s := is.Services().ByName(w.Name())
		if s == nil {
			t.Errorf("no service %s", w.Name())
			continue
		}
		for k := range w.Methods().Len() {
			w := w.Methods().Get(k)
			m := s.Methods().ByName(w.Name())
			if m == nil || m.Input().FullName() != w.Input().FullName() || m.Output().FullName() != w.Output().FullName() ||
				m.IsStreamingClient() != w.IsStreamingClient() || m.IsStreamingServer() != w.IsStreamingServer() {
				t.Errorf("method %s is %v, was %v", w.Name(), m, w)
			}
		}
	}
}

func sameMessages(t *testing.T, was, is protoreflect.MessageDescriptors) int {
	t.Helper()
	for i := range was.Len() {
		w := was.Get(i)
		m := is.ByName(w.Name())
		if m == nil {
			t.Errorf("no message %s", w.FullName())
			continue
		}
		for k := range w.Fields().Len() {
			w := w.Fields().Get(k)
			f := m.Fields().ByNumber(w.Number())
			if f == nil {
				t.Errorf("no field %d, was %s", w.Number(), w.FullName())
				continue
			}
			if f.Name() != w.Name() || f.Kind() != w.Kind() || f.Cardinality() != w.Cardinality() ||
				f.IsPacked() != w.IsPacked() || oneof(f) != oneof(w) || typeName(f) != typeName(w) {
				t.Errorf("field is %v, was %v", f, w)
			}
		}
		sameMessages(t, w.Messages(), m.Messages())
		sameEnums(t, w.Enums(), m.Enums())
	}
	return was.Len()
}

func sameEnums(t *testing.T, was, is protoreflect.EnumDescriptors) int {
	t.Helper()
	for i := range was.Len() {
		w := was.Get(i)
		e := is.ByName(w.Name())
		if e == nil {
			t.Errorf("no enum %s", w.FullName())
			continue
		}
		for k := range w.Values().Len() {
			w := w.Values().Get(k)
			if v := e.Values().ByNumber(w.Number()); v == nil || v.Name() != w.Name() {
				t.Errorf("enum value is %v, was %v", v, w)
			}
		}
	}
	return was.Len()
}

// oneof returns the name of a field's oneof. A field that joins or leaves one is read differently.
func oneof(f protoreflect.FieldDescriptor) protoreflect.Name {
	if o := f.ContainingOneof(); o != nil {
		return o.Name()
	}
	return ""
}

// typeName returns the name of the message or enum that is a field's type.
func typeName(f protoreflect.FieldDescriptor) protoreflect.FullName {
	switch {
	case f.Message() != nil:
		return f.Message().FullName()
	case f.Enum() != nil:
		return f.Enum().FullName()
	}
	return ""
}
