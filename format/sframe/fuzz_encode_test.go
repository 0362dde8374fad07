package sframe

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// normal returns c as a section gives it back: sorted by start, and with the types that the encoder
// chose. back has these types.
func normal(c, back *Contents) *Contents {
	out := *c
	out.Functions = append([]Function{}, c.Functions...)
	slices.SortStableFunc(out.Functions, func(a, b Function) int { return cmp.Compare(a.Start, b.Start) })
	if back == nil {
		return &out
	}
	for i := range min(len(out.Functions), len(back.Functions)) {
		f, b := &out.Functions[i], &back.Functions[i]
		f.Type, f.FREType = max(f.Type, b.Type), max(f.FREType, b.FREType)
		if len(f.Entries) == 0 {
			f.Entries = nil
		}
	}
	return &out
}

// sameAgain writes c, reads it, and writes it once more.
func sameAgain(t *testing.T, c *Contents, addr uint64) {
	t.Helper()
	data, err := c.Encode(addr)
	if err != nil {
		if !errors.Is(err, ErrCannotHold) || err.Error() == "" {
			t.Fatalf("Encode: %v", err)
		}
		return
	}
	s, err := Open(data, addr)
	if err != nil || len(s.Data) != len(data) {
		t.Fatalf("Open: %v", err)
	}
	back, err := s.Contents()
	if err != nil {
		t.Fatalf("Contents: %v\n%+v", err, c)
	}
	got := normal(back, nil)
	if want := normal(c, got); !reflect.DeepEqual(got, want) {
		t.Fatalf("wrote %+v\nread  %+v", want, got)
	}
	again, err := back.Encode(addr)
	if err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%v: wrote %x, then %x", err, data, again)
	}
	for v := V1; v <= V3; v++ {
		converts(t, c, v)
	}
}

// converts turns c into version v and back. The result must equal c, except for the functions that
// Convert reports.
func converts(t *testing.T, c *Contents, v Version) {
	t.Helper()
	out, lost := c.Convert(v)
	if out == nil {
		if len(lost) == 0 {
			t.Fatalf("to %v: nothing left, and nothing said", v)
		}
		return
	}
	dropped := map[int]bool{}
	for _, e := range lost {
		if e.Func >= 0 {
			if dropped[e.Func] || e.Start != c.Functions[e.Func].Start || e.Version != v {
				t.Fatalf("to %v: %v", v, e)
			}
			dropped[e.Func] = true
		}
	}
	if len(out.Functions)+len(dropped) != len(c.Functions) {
		t.Fatalf("to %v: %d of %d functions, %d reported", v, len(out.Functions), len(c.Functions), len(dropped))
	}
	back, lost := out.Convert(c.Version)
	for _, e := range lost {
		if e.Func >= 0 {
			t.Fatalf("to %v and back: %v", v, e)
		}
	}
	i := 0
	for j, want := range c.Functions {
		if dropped[j] {
			continue
		}
		got := back.Functions[i]
		i++
		// Another version may say the same in another form, or leave it out, but must not change
		// it.
		if want.PCType == PCInc {
			got.RepSize, want.RepSize = 0, 0
		}
		got.Type, want.Type = 0, 0
		outermost := []Entry{{RA: Rule{Kind: RuleUndefined}}}
		if c.Version == V3 && len(want.Entries) == 0 && c.Functions[j].Type == FDEDefault {
			want.Entries = outermost
		}
		if c.Version == V3 && len(got.Entries) == 0 && back.Functions[i-1].Type == FDEDefault {
			got.Entries = outermost
		}
		if len(got.Entries)+len(want.Entries) == 0 {
			got.Entries, want.Entries = nil, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("to %v and back: %+v became %+v", v, want, got)
		}
	}
}

// FuzzContents reads any bytes whole, and writes what it read.
func FuzzContents(f *testing.F) {
	for _, fx := range fixtures {
		s, _ := openFixture(f, fx.name)
		f.Add(s.Data, s.Addr)
	}
	f.Add(withoutFREs(f, little, AMD64), uint64(0x2000))
	f.Add(withoutFREs(f, big, S390X), uint64(0x2000))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		s, err := Open(data, addr)
		if err != nil {
			return
		}
		var c *Contents
		bounds.Hold(t, 64<<10+256*len(data), func() { c, err = s.Contents() })
		if err != nil {
			checkFormatError(t, err)
			return
		}
		sorted := slices.IsSortedFunc(c.Functions, func(a, b Function) int { return cmp.Compare(a.Start, b.Start) })
		for i := 1; i < len(c.Functions); i++ {
			if sorted && c.Functions[i].Start == c.Functions[i-1].Start {
				return // their order is not kept
			}
		}
		if sorted {
			bounds.Hold(t, 1<<20+4<<10*len(data), func() { sameAgain(t, c, addr) })
		}
	})
}

// FuzzEncode makes up functions and rows from numbers, and writes them.
func FuzzEncode(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed, uint8(seed), uint8(seed>>2), uint8(seed>>4))
	}
	f.Fuzz(func(t *testing.T, seed uint64, version, abi, flags uint8) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		c := madeUp(rnd, Version(version%4), ABI(abi%5), Flags(flags%8))
		bounds.Hold(t, 4<<20, func() { sameAgain(t, c, rnd.Uint64()>>rnd.UintN(64)) })
	})
}

// madeUp makes Contents of few functions. Most versions can hold most of them.
func madeUp(rnd *rand.Rand, v Version, abi ABI, flags Flags) *Contents {
	c := &Contents{Version: v, ABI: abi, Flags: flags}
	if rnd.IntN(2) == 0 {
		c.FixedRA = -8
	}
	if rnd.IntN(8) == 0 {
		c.FixedFP = int8(rnd.Uint32())
	}
	if rnd.IntN(4) == 0 {
		c.AuxHeader = []byte("auxiliary")[:1+rnd.IntN(9)]
	}
	// numbers near the limits of 1, 2 and 4 bytes
	number := func() int64 {
		limits := []int64{0, 0, 16, math.MaxInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32}
		n := limits[rnd.IntN(len(limits))] + int64(rnd.IntN(4)) - 1
		if rnd.IntN(2) == 0 {
			n = -n
		}
		return n
	}
	rule := func(kinds ...RuleKind) Rule {
		r := Rule{Kind: kinds[rnd.IntN(len(kinds))]}
		switch r.Kind {
		case RuleInReg, RuleSavedAt:
			r.Reg = uint16(number())
			if rnd.IntN(2) == 0 {
				r.Reg = []uint16{abi.SP(), abi.FP()}[rnd.IntN(2)]
			}
			r.Off = int32(number())
			if rnd.IntN(4) != 0 {
				r.Off &^= 7
			}
		case RuleSaved, RuleValue:
			r.Off = int32(number())
		}
		return r
	}
	start := uint64(number())
	for range rnd.IntN(6) {
		f := Function{Start: start, Size: uint32(number())}
		start += 1 + uint64(f.Size)
		simple := rnd.IntN(3) != 0 // only forms that all versions hold
		if !simple {
			f.PCType, f.PauthKey, f.Signal = PCType(rnd.IntN(2)), PauthKey(rnd.IntN(2)), rnd.IntN(2) == 0
			f.RepSize = []uint8{0, 1, 16, 32}[rnd.IntN(4)]
			f.Type, f.FREType = FDEType(rnd.IntN(2)), FREType(rnd.IntN(3))
		}
		offset := uint32(0)
		for range rnd.IntN(5) {
			e := Entry{Offset: offset, MangledRA: rnd.IntN(4) == 0, CFA: rule(RuleInReg), RA: fixedRule(c.FixedRA), FP: fixedRule(c.FixedFP)}
			offset += uint32(max(0, number()))
			switch {
			case simple && c.FixedRA == 0 && rnd.IntN(2) == 0:
				e.RA, e.FP = rule(RuleSaved), rule(RuleSame, RuleSaved)
			case simple && rnd.IntN(2) == 0:
				e.FP = rule(RuleSame, RuleSaved)
			case simple:
				e.CFA.Reg = abi.SP()
			case rnd.IntN(4) == 0:
				e.CFA, e.RA, e.FP = Rule{}, Rule{Kind: RuleUndefined}, Rule{}
			default:
				e.CFA = rule(RuleInReg, RuleInReg, RuleSavedAt, RuleValue)
				e.RA = rule(RuleSame, RuleSaved, RuleSavedAt, RuleInReg)
				e.FP = rule(RuleSame, RuleSaved, RuleSavedAt, RuleInReg, RuleValue)
			}
			f.Entries = append(f.Entries, e)
		}
		c.Functions = append(c.Functions, f)
	}
	return c
}
