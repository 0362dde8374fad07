package external

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"testing"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protodelim"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/interval"
	"github.com/sfwalk/sfwalk/internal/plugincheck/cores"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// script is a stream whose messages from the plug-in are arbitrary bytes, whatever the host asks.
// Each message comes after its length.
type script struct {
	grpc.ClientStream
	says   *bytes.Reader
	number uint64 // of the last question, stack or request for tasks
}

func (s *script) Send(m *protocol.FromHost) error {
	if q := m.GetQuestion(); q != nil {
		s.number = q.Number
	}
	if q := m.GetStack(); q != nil {
		s.number = q.Number
	}
	if q := m.GetAskTasks(); q != nil {
		s.number = q.Number
	}
	return nil
}

// Recv reads a message. An answer, a decoration or tasks without a number get the right one, so
// that random bytes come further.
func (s *script) Recv() (*protocol.FromPlugin, error) {
	m := &protocol.FromPlugin{}
	if err := (protodelim.UnmarshalOptions{MaxSize: maxMessage}).UnmarshalFrom(s.says, m); err != nil {
		return nil, io.EOF
	}
	if a := m.GetAnswer(); a != nil && a.Number == 0 {
		a.Number = s.number
	}
	if d := m.GetDecoration(); d != nil && d.Number == 0 {
		d.Number = s.number
	}
	if t := m.GetTasks(); t != nil && t.Number == 0 {
		t.Number = s.number
	}
	return m, nil
}

// lines returns the bytes of a script.
func lines(t testing.TB, list ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range list {
		from := &protocol.FromPlugin{}
		switch m := m.(type) {
		case *protocol.Ready:
			from.Message = &protocol.FromPlugin_Ready{Ready: m}
		case *protocol.Answer:
			from.Message = &protocol.FromPlugin_Answer{Answer: m}
		case *protocol.Read:
			from.Message = &protocol.FromPlugin_Read{Read: m}
		case *protocol.List:
			from.Message = &protocol.FromPlugin_List{List: m}
		case *protocol.Find:
			from.Message = &protocol.FromPlugin_Find{Find: m}
		case *protocol.Decoration:
			from.Message = &protocol.FromPlugin_Decoration{Decoration: m}
		case *protocol.Tasks:
			from.Message = &protocol.FromPlugin_Tasks{Tasks: m}
		case *protocol.Continue:
			from.Message = &protocol.FromPlugin_GoOn{GoOn: m}
		}
		if _, err := protodelim.MarshalTo(&b, from); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// FuzzSession: whatever a plug-in says, stacks end, its text does nothing to a terminal, and the
// answers that are kept are in order.
func FuzzSession(f *testing.F) {
	var subjects []*cores.Process
	for _, name := range cores.Architectures() {
		p, err := cores.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		defer p.Close()
		subjects = append(subjects, p)
	}
	rule := func(kind protocol.Rule_Kind, reg uint32, off int32, addr uint64) *protocol.Rule {
		return &protocol.Rule{Kind: kind, Register: reg, Offset: off, Address: addr}
	}
	row := func(lo, hi uint64) *protocol.Row {
		return &protocol.Row{
			Lo: lo, Hi: hi, Cfa: rule(protocol.Rule_IN_REGISTER, 7, 48, 0), Ra: rule(protocol.Rule_SAVED, 0, -8, 0),
			Fp: rule(protocol.Rule_SAME, 0, 0, 0), OthersSame: true,
			Others: []*protocol.RegisterRule{{Register: 3, Rule: rule(protocol.Rule_SAVED, 0, -16, 0)}},
		}
	}
	const down, jit = 0x40103d, 0x7fe7e5e81019 // frames 0 and 1 of the amd64 process
	ready := &protocol.Ready{}
	symbol := &protocol.Symbol{Lo: jit, Hi: jit + 1, Function: "\x1b[31mf", File: "f.js", Line: math.MaxUint32}
	f.Add(uint8(0), lines(f, ready, &protocol.Answer{Declines: "no"}, &protocol.Answer{Row: row(jit-9, jit+7), Symbols: []*protocol.Symbol{symbol}, Name: symbol}))
	f.Add(uint8(0), lines(f, ready, &protocol.Answer{Row: row(down, down+1), Rows: []*protocol.Row{row(jit-9, jit+7)}, Never: []*protocol.Range{{Lo: 1, Hi: jit - 9}}}))
	f.Add(uint8(0), lines(f, &protocol.Ready{Never: []*protocol.Range{{Lo: 0x401000, Hi: 0x402000}}}, &protocol.Answer{Frame: &protocol.Frame{
		Cfa: 0x7ffcbba67530, Function: jit - 9, Pc: rule(protocol.Rule_SAVED_AT_IS, 0, 0, 0x7ffcbba67528), Sp: rule(protocol.Rule_VALUE_IS, 0, 0, 0x7ffcbba67530),
		Type: protocol.FrameType_OTHER_STACK, Others: []*protocol.RegisterRule{{Register: 3, Rule: rule(protocol.Rule_UNDEFINED, 0, 0, 0)}},
	}}))
	f.Add(uint8(0), lines(f, &protocol.Ready{Declines: "not this one"}))
	f.Add(uint8(1), lines(f, &protocol.Read{Ranges: []*protocol.Range{{Lo: 0x400000, Hi: 0x400100}, {Lo: math.MaxUint64 - 1, Hi: math.MaxUint64}}},
		&protocol.List{From: 1}, &protocol.Find{Name: "jit_regions", Module: "jit*"}, &protocol.Find{Address: 0x4001d0}, ready, &protocol.Answer{Row: row(0, math.MaxUint32)}))
	f.Add(uint8(2), lines(f, ready, &protocol.Answer{Row: &protocol.Row{Lo: 0x1000000, Hi: 0x1000400, Outermost: true}}))
	f.Add(uint8(2), []byte("\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, which uint8, says []byte) {
		bounds.Hold(t, 4<<20+256*len(says), func() { checkSession(t, subjects[int(which)%len(subjects)], says) })
	})
}

// checkSession walks a stack with a plug-in that sends the messages says.
func checkSession(t *testing.T, subject *cores.Process, says []byte) {
	p := &Plugin{Description: plugin.Description{Name: "scripted", Needs: plugin.Needs{Stack: 256, CodeBefore: 16, CodeAfter: 16}}, opts: Options{StartTimeout: time.Minute, Deadline: time.Minute}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	defer p.cancel()
	x := &script{says: bytes.NewReader(says)}
	s := p.Sniffer(Target{PID: subject.PID})
	s.session = &session{plugin: p, target: s.about, stream: x, cancel: func() {}}
	table := frame.NewTable(subject.Arch(), s)
	threads, err := subject.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(subject, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	stack.Limit = 64
	shown := func(text string) {
		for _, r := range text {
			if !unicode.IsPrint(r) {
				t.Fatalf("a terminal would obey %q", text)
			}
		}
	}
	for f, err := range stack.All() {
		if err != nil {
			break
		}
		cfa, _ := f.CFA()
		if symbol, ok := s.Symbol(f.AddressInBlock(), cfa); ok {
			shown(symbol.Function)
			shown(symbol.File)
		}
		for _, d := range f.Claim().Declined {
			shown(d.Reason)
		}
		f.ID()
		for _, r := range subject.Arch().Regs {
			f.Register(r.Num)
		}
		if row := f.Row(); f.Sniffer() != "" && row.CFA.Kind != trad.NotTracked && !row.Contains(f.AddressInBlock()) {
			t.Fatalf("frame %d at %#x is unwound by the row of [%#x, +%d)", f.Level, f.PC(), row.Lo, row.Len)
		}
	}
	if err := p.Err(); err != nil {
		shown(err.Error())
		if !errors.Is(err, ErrNonsense) {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ordered(t, s.known.All())
	ordered(t, s.names.All())
}

// ordered checks that ranges are ascending, not empty, and do not overlap.
func ordered[T any](t *testing.T, list iter.Seq[interval.Entry[T]]) {
	t.Helper()
	last := uint64(0)
	for x := range list {
		if x.Lo < last || x.Lo >= x.Hi {
			t.Fatalf("[%#x, %#x) behind one that ends at %#x", x.Lo, x.Hi, last)
		}
		last = x.Hi
	}
}
