//go:build linux

package plugintest

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/plugintest/jit"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// careless is [jit.Sniffer] with a fault that an author may overlook.
type careless struct {
	jit.Sniffer
	always   bool // begins also for processes without the JIT
	describe func(*plugin.Description)
	begin    func(*plugin.Target) error
	sniff    func(*plugin.Query, *plugin.Answer)
}

// Describe implements [plugin.Sniffer].
func (c careless) Describe() plugin.Description {
	d := c.Sniffer.Describe()
	if c.describe != nil {
		c.describe(&d)
	}
	return d
}

// Begin implements [plugin.Sniffer].
func (c careless) Begin(t *plugin.Target) (plugin.Session, error) {
	if c.begin != nil {
		if err := c.begin(t); err != nil {
			return nil, err
		}
	}
	session, err := c.Sniffer.Begin(t)
	if err != nil && !c.always {
		return nil, err
	}
	if err != nil {
		session = plugin.SessionFunc(func(*plugin.Query) plugin.Answer { return plugin.Decline("not the JIT's process") })
	}
	return plugin.SessionFunc(func(q *plugin.Query) plugin.Answer {
		a := session.Sniff(q)
		if c.sniff != nil {
			c.sniff(q, &a)
		}
		return a
	}), nil
}

// onClaim returns a sniff that changes answers that claim.
func onClaim(f func(q *plugin.Query, a *plugin.Answer)) func(*plugin.Query, *plugin.Answer) {
	return func(q *plugin.Query, a *plugin.Answer) {
		if a.Row != nil {
			f(q, a)
		}
	}
}

func init() {
	var count atomic.Uint64
	var shared atomic.Pointer[plugin.Target]
	for name, c := range map[string]careless{
		"random": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
			if count.Add(1)%5 == 0 {
				*a = plugin.Decline("not now")
			}
		})},
		"process": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) { // its answers depend on the plug-in's process
			a.Name = &plugin.Symbol{Range: a.Symbols[0].Range, Function: fmt.Sprint("of ", os.Getpid())}
		})},
		"wide": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
			a.Row.Lo, a.Row.Len = a.Symbols[0].Lo, uint32(a.Symbols[0].Hi-a.Symbols[0].Lo)
		})},
		"never": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
			a.Never = []plugin.Range{{Lo: a.Row.Lo, Hi: a.Row.Lo + 1}}
		})},
		"wrong": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
			a.Row.CFA.Off += 16
			a.More = nil
		})},
		"inward": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) { a.Row.CFA.Off = -64 })},
		"register": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
			a.Row.Others = &trad.OtherRules{Regs: []trad.RegRule{{Reg: 77, Rule: trad.Rule{Kind: trad.Same}}}}
		})},
		"escapes": {sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) { a.Symbols[0].Function = "\x1b[31mf" })},
		"steals": { // frames of the program
			always:   true,
			describe: func(d *plugin.Description) { d.Claims, d.Before = nil, "sigtramp" },
			sniff: func(q *plugin.Query, a *plugin.Answer) {
				if a.Row == nil && q.Level > 0 && q.Module != nil {
					*a = plugin.Claim(trad.Row{
						Lo: q.AddressInBlock, Len: 1, CFA: trad.Rule{Kind: trad.InReg, Reg: q.Target.SP, Off: 4096},
						RA: trad.Rule{Kind: trad.InReg, Reg: q.Target.PC}, Flags: trad.Outermost,
					})
				}
			}},
		"everywhere": { // also where no code is
			sniff: func(q *plugin.Query, a *plugin.Answer) {
				if a.Row == nil {
					*a = plugin.Claim(trad.Row{Lo: q.AddressInBlock, Len: 1, CFA: trad.Rule{Kind: trad.InReg, Reg: q.Target.SP, Off: 16}, RA: trad.Rule{Kind: trad.Saved, Off: -8}})
				}
			}},
		"reads": {sniff: func(q *plugin.Query, a *plugin.Answer) {
			for i := range uint64(3) {
				q.Target.Word(q.PC + 8*i)
			}
		}},
		"slow": {sniff: onClaim(func(*plugin.Query, *plugin.Answer) { // once
			if count.Add(1) == 1 {
				time.Sleep(60 * time.Millisecond)
			}
		})},
		"too-slow": {sniff: func(q *plugin.Query, a *plugin.Answer) {
			if q.PC == 1 && count.Add(1) == 1 {
				time.Sleep(300 * time.Millisecond)
			}
		}, always: true},
		"chatty": {sniff: func(*plugin.Query, *plugin.Answer) { fmt.Fprintln(os.NewFile(1, ""), "debug: here") }},
		"window": {
			describe: func(d *plugin.Description) { d.Needs.Stack = 64 },
			sniff:    onClaim(func(q *plugin.Query, a *plugin.Answer) { _ = q.Stack.Data[40] }),
		},
		"impatient": {begin: func(t *plugin.Target) error { // expects that memory can be read
			modules, err := t.Modules()
			if err == nil && len(modules) > 0 {
				var p [4]byte
				if _, err := t.ReadMemory(modules[0].Mappings[0].Lo, p[:]); err != nil {
					panic(err)
				}
			}
			return err
		}},
		"shared": { // all sessions share it
			begin: func(t *plugin.Target) error { shared.Store(t); return nil },
			sniff: onClaim(func(q *plugin.Query, a *plugin.Answer) {
				if shared.Load() != q.Target {
					*a = plugin.Decline("another session")
				}
			})},
		"once-begun": {begin: func(t *plugin.Target) error {
			if count.Add(1) > 20 {
				return errors.New("begun too often")
			}
			return nil
		}},
		"anywhere": {describe: func(d *plugin.Description) { d.Claims = nil }},
		"unknown":  {describe: func(d *plugin.Description) { d.Architectures = append(d.Architectures, "pdp11") }},
		"pdp11":    {describe: func(d *plugin.Description) { d.Architectures = []string{"pdp11"} }},
		"nobody":   {describe: func(d *plugin.Description) { d.Before = "nobody" }},
	} {
		modes["jit-"+name] = func() { plugin.Serve(c) }
	}
}
