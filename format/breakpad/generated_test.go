package breakpad

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// counted counts what is read of a file.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += n
	return n, err
}

// TestParsedOnce: what thousands of addresses share is read and parsed once: a function, its rules,
// a long name.
func TestParsedOnce(t *testing.T) {
	const n = 4000
	repeat := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, 0x1000+8*i)
		}
		return b.String()
	}
	long := strings.Repeat("n", 64<<10)
	const function, init = "FUNC 1000 30000 0 f\n", "STACK CFI INIT 1000 30000 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	for name, text := range map[string]string{
		"lines":         "FILE 0 a.c\n" + function + repeat("%x 8 1 0\n"),
		"inlined calls": "FILE 0 a.c\nINLINE_ORIGIN 0 o\n" + function + repeat("INLINE 0 1 0 0 %x 8\n"),
		"rules":         init + repeat("STACK CFI %x $rbx: .cfa 16 - ^\n"),
		"bad rules":     init + repeat("STACK CFI %x $rbx: .cfa 16 - ^\n") + "STACK CFI 1000 $rbx: +\n",
		"cut off rules": init + repeat("STACK CFI %x $rbx: .cfa 16 - ^\n") + "STACK CFI z\n",
		"function":      "FUNC 1000 30000 0 " + long + "\n",
		"public":        "PUBLIC 1000 0 " + long + "\n",
		"other names":   "FILE 0 " + long + "\nINLINE_ORIGIN 0 " + long + "\n" + function + "INLINE 0 1 0 0 1000 30000\n1000 30000 1 0\n",
		"program":       "STACK WIN 4 1000 30000 0 0 0 0 0 0 1 " + long + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			text = "MODULE Linux x86_64 1 many\n" + text
			r := &counted{ReaderAt: strings.NewReader(text)}
			f, err := New(r, int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			bounds.Hold(t, 16<<20+64*len(text), func() {
				for i := range n {
					addr := uint64(0x1000 + 8*i)
					f.Locate(addr)
					f.RulesAt(addr)
					f.Win(addr)
					f.ParamSize(addr)
				}
			})
			if most := 20*len(text) + 64*lineBuffer; r.bytes > most {
				t.Errorf("%d bytes are read of a file of %d", r.bytes, len(text))
			}
		})
	}
}

// TestNested: an address behind tens of thousands of ranges that lie in one another costs no look
// at each.
func TestNested(t *testing.T) {
	const n = 80000
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 1 many\nFUNC 0 10000000 0 outer\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "FUNC %x %x 0 f\n", i, 2*(n-i))
	}
	f := indexed(t, b.String())
	bounds.Hold(t, 8<<20, func() {
		for i := range uint64(n / 2) {
			if r, ok := f.Bounds(2*n + 4*i); !ok || r.Address != 0 {
				t.Fatalf("at %#x: %+v, %v", 2*n+4*i, r, ok)
			}
		}
	})
}

// TestRandomInlines: at each address, of each depth the first call counts, and of that the first of
// its ranges.
func TestRandomInlines(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 2))
	for range 200 {
		fn := &indexedFunc{}
		for i := range random.IntN(20) {
			in := Inline{Depth: random.IntN(5), CallLine: i}
			for range 1 + random.IntN(4) {
				in.Ranges = append(in.Ranges, Range{random.Uint64N(100), random.Uint64N(40)})
			}
			fn.Inlines = append(fn.Inlines, in)
		}
		fn.index()
		for addr := range uint64(150) {
			var got, want []string
			for _, c := range slices.Backward(fn.depths) {
				if in, ok := c.Find(addr); ok {
					got = append(got, fmt.Sprint(in.Value.CallLine, in.Value.code))
				}
			}
			for depth := 4; depth >= 0; depth-- {
				for _, in := range fn.Inlines {
					if i := slices.IndexFunc(in.Ranges, func(r Range) bool { return r.Contains(addr) }); in.Depth == depth && i >= 0 {
						want = append(want, fmt.Sprint(in.CallLine, in.Ranges[i]))
						break
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("at %d: %v, want %v: %+v", addr, got, want, fn.Inlines)
			}
		}
	}
}

// TestRandomRules: the rules at an address are what one gets by applying each change up to it.
func TestRandomRules(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 3))
	names := []string{CFA, RA, "$rbx", "$rbp", "$r12"}
	for range 200 {
		cfi := CFI{StackCFIInit: StackCFIInit{Address: 10, Size: 100, Rules: ".cfa: 1 .ra: 2"}}
		for range random.IntN(20) {
			rule := fmt.Sprintf("%s: %d", names[random.IntN(len(names))], random.IntN(100))
			cfi.Changes = append(cfi.Changes, StackCFI{10 + random.Uint64N(100), rule})
		}
		slices.SortStableFunc(cfi.Changes, func(a, b StackCFI) int { return int(a.Address) - int(b.Address) })
		for addr := uint64(10); addr < 110; addr++ {
			want := []string{".cfa: 1", ".ra: 2"}
			for _, c := range cfi.Changes {
				if c.Address > addr {
					break
				}
				name, _, _ := strings.Cut(c.Rules, " ")
				if i := slices.IndexFunc(want, func(rule string) bool { return strings.HasPrefix(rule, name) }); i >= 0 {
					want[i] = c.Rules
				} else {
					want = append(want, c.Rules)
				}
			}
			rules, err := cfi.RulesAt(addr)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rules {
				got = append(got, r.Register+": "+r.Expr.String())
			}
			if !slices.Equal(got, want) {
				t.Fatalf("at %d: %v, want %v: %+v", addr, got, want, cfi)
			}
		}
	}
}

// TestDeep: of inlined calls that are deeper than any compiler's, the outer ones are shown, each
// with its line.
func TestDeep(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 1 many\nFILE 0 a.c\nINLINE_ORIGIN 0 o\nFUNC 10 20 0 f\n10 20 9999 0\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "INLINE %d %d 0 0 10 %x\n", i, i+1, max(1, 0x20-i/100))
	}
	f := indexed(t, b.String())
	chain, err := f.Locate(0x10)
	if err != nil || len(chain) != maxInlined+1 {
		t.Fatalf("%d, %v", len(chain), err)
	}
	for i, l := range chain {
		// A call stands in the line in which the one inside it is called; outermost comes f, in
		// line 1.
		if want := maxInlined + 1 - i; l.Line != want || l.Deeper != (i == 0) || l.Inlined != (i < maxInlined) || l.File != "a.c" {
			t.Errorf("%d: %+v", i, l)
		}
	}
	// Where they are less deep, none is left out.
	if chain, err = f.Locate(0x2e); err != nil || len(chain) != 201 || chain[0].Deeper || chain[0].Line != 9999 {
		t.Errorf("%d, %v: %+v", len(chain), err, chain[0])
	}
}

// TestManyRegisters: rules of more registers than any processor has are malformed, and so is a
// longer expression than any compiler's.
func TestManyRegisters(t *testing.T) {
	cfi := CFI{StackCFIInit: StackCFIInit{Address: 0, Size: 4096, Rules: ".cfa: $rsp 8 + .ra: .cfa 8 - ^"}}
	for i := range 1000 {
		cfi.Changes = append(cfi.Changes, StackCFI{uint64(i), fmt.Sprintf("r%d: %d", i, i)})
	}
	if rules, err := cfi.RulesAt(maxRegisters - 3); err != nil || len(rules) != maxRegisters {
		t.Errorf("%d, %v", len(rules), err)
	}
	if _, err := cfi.RulesAt(maxRegisters - 2); err == nil || !strings.Contains(err.Error(), "more than 256 registers") {
		t.Error(err)
	}
	if _, err := ParseRules(".cfa: 1" + strings.Repeat(" 1 +", maxProgram/2)); err == nil {
		t.Error("a rule of", maxProgram+1, "operands and operators is taken")
	}
}

// TestBelonging: a function with millions of lines, or of parts of inlined calls, and rules with
// millions of changes, take bounded memory, and say that they are cut.
func TestBelonging(t *testing.T) {
	const function, init = "FUNC 1000 300000 0 f\n", "STACK CFI INIT 1000 30000 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	for name, text := range map[string]string{
		"lines":         "FILE 0 a.c\n" + function + strings.Repeat("1000 8 1 0\n", 800_000),
		"inlined calls": "FILE 0 a.c\nINLINE_ORIGIN 0 o\n" + function + strings.Repeat("INLINE 0 1 0 0 1000 8\n", 300_000),
		"parts":         "FILE 0 a.c\nINLINE_ORIGIN 0 o\n" + function + strings.Repeat("INLINE 0 1 0 0"+strings.Repeat(" 1000 8", 10_000)+"\n", 100),
		"rules":         init + strings.Repeat("STACK CFI 1001 $rbp: .cfa -16 + ^\n", 400_000),
	} {
		t.Run(name, func(t *testing.T) {
			f := indexed(t, "MODULE Linux x86_64 1 many\n"+text)
			if name == "rules" {
				if _, err := f.CFI(0x1001); err == nil || !strings.Contains(err.Error(), "more than") {
					t.Error(err)
				}
				return
			}
			fn, err := f.Func(0x1001)
			if err != nil || len(fn.Warnings) != 1 || !strings.Contains(fn.Warnings[0].Error(), "left out") {
				t.Fatalf("%v, %v", fn.Warnings, err)
			}
			made, err := f.funcOf(f.tables.Load(), 0x1001)
			if err != nil || made.size() > 8*maxBelonging {
				t.Errorf("%d bytes, %v", made.size(), err)
			}
			if at, err := f.Locate(0x1001); err != nil || at[len(at)-1].Function != "f" || at[len(at)-1].File != "a.c" {
				t.Errorf("%+v, %v", at, err)
			}
		})
	}
}
