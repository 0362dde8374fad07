package remote

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	engine "github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// sixteen unwinds every frame: each CFA is 16 bytes further out.
type sixteen struct{ a *arch.Arch }

func (sixteen) Name() string { return "sixteen" }

func (s sixteen) Sniff(q *engine.Query) (trad.Row, engine.Answer) {
	return trad.Row{
		Lo: q.PC, Len: 1, CFA: trad.Rule{Kind: trad.InReg, Reg: s.a.SP, Off: 16},
		RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Same},
	}, engine.Claimed
}

// slow is a stub with an endless stack. It answers each question just before the time for the
// answer is over.
func slow(t *testing.T, o Options) (tg *Target, asked *int) {
	stub := sleepy()
	var late atomic.Int64
	asked = new(int)
	stub.answer = func(packet string) any {
		var addr uint64
		var n int
		if k, _ := fmt.Sscanf(packet, "m%x,%x", &addr, &n); k != 2 {
			return nil
		}
		*asked++
		late.Add(int64(o.Timeout - time.Millisecond))
		words := make([]byte, n+8)
		for i := 0; i < n; i += 8 {
			binary.LittleEndian.PutUint64(words[i:], 0x401001)
		}
		return hex.EncodeToString(words[:n])
	}
	tg, err := stub.dial(t, o)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	tg.s.mu.Lock()
	tg.s.link.now = func() time.Time { return begin.Add(time.Duration(late.Load())) }
	tg.s.mu.Unlock()
	tg.modules = target.NewModules(nil, []target.Mapping{{Lo: 0x401000, Hi: 0x402000, Exec: true}})
	return tg, asked
}

// A stub that answers each question in time cannot make a walk take forever, for the whole dialogue
// has a limit, and each thread's stack has one. The frames that arrived are there, with the reason.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limit, thread time.Duration
		questions     int // for each thread's stack
		says          string
	}{
		{0, 30 * time.Second, 7, "--thread-limit"},
		{20 * time.Second, 0, 5, "--limit"},
		{50 * time.Second, 20 * time.Second, 5, "--thread-limit"},
	} {
		tg, asked := slow(t, Options{Timeout: 5 * time.Second, Limit: tt.limit, ThreadLimit: tt.thread})
		table := engine.NewTable(tg.Arch(), sixteen{tg.Arch()})
		threads, _ := tg.Threads()
		for i, th := range threads {
			*asked = 0
			s, err := engine.New(tg, th, table)
			if i > 0 && tt.thread == 0 {
				if !errors.Is(err, ErrLimit) {
					t.Errorf("%+v: the second thread's registers: %v", tt, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%+v: %v", tt, err)
				continue
			}
			s.Limit = 10_000
			n := 0
			var stop *engine.StopError
			for _, err := range s.AllOnce() {
				if n++; err != nil {
					errors.As(err, &stop)
				}
			}
			// A question is for 256 bytes, which hold 16 frames.
			if stop == nil || stop.Reason != engine.MemoryError || !errors.Is(stop, ErrLimit) || n < 16*tt.questions-16 || *asked > tt.questions {
				t.Errorf("%+v: %d frames by %d questions, then %v", tt, n, *asked, stop)
			}
		}
		if list := strings.Join(tg.Warnings(), "\n"); !strings.Contains(list, tt.says) {
			t.Errorf("%+v: warnings %q", tt, list)
		}
		tg.Running = true
		if err := tg.Close(); err != nil {
			t.Errorf("%+v: the target is not let go: %v", tt, err)
		}
	}
}

// A stub that falls silent is waited for until the limit is over, even if a single answer may take
// longer.
func TestLimitOfSilence(t *testing.T) {
	stub := sleepy()
	stub.answer = func(packet string) any {
		if packet[0] == 'm' {
			return silent{}
		}
		return nil
	}
	tg, err := stub.dial(t, Options{Timeout: 3 * time.Second, Limit: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	tg.s.mu.Lock()
	end := tg.s.link.end
	tg.s.link.now = func() time.Time { return end.Add(-time.Millisecond) }
	tg.s.mu.Unlock()
	if _, err := tg.Memory().ReadMemory(0x1000, make([]byte, 8)); !errors.Is(err, ErrLimit) {
		t.Errorf("error %v, want %v", err, ErrLimit)
	}
}
