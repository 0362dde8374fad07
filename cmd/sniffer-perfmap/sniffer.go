package main

import (
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// Why a frame is not claimed, beside noFrame.
const (
	unlisted   = "neither a perf map nor a jitdump lists the code at PC"
	unfinished = "the perf map or jitdump has not been read to its end yet"
	unreadable = "the code at PC cannot be read"
	halfGone   = "other code has taken the place of this code's beginning"
	tooLong    = "the function is too long"
	inward     = "the frame that the code has there would be inside of SP"
	gone       = "what the perf map or jitdump had on the code at PC cannot be read any more"
)

const (
	// The code that comes with a question: enough for most functions, so that no request is needed.
	stack      = 512
	codeBefore = 2 << 10
	codeAfter  = 2 << 10
	// maxFunction bounds the code of a function that is read, in bytes.
	maxFunction = 256 << 10
	// maxRead bounds one read of the host, in bytes.
	maxRead = 64 << 10
	// maxKept is the number of files that stay open, so that they are not read again.
	maxKept = 16
)

// embedders are programs and libraries with V8's builtins in their text. Perf maps list the
// builtins, too. They have no unwind tables.
var embedders = []string{"node", "nodejs", "libnode.so*", "electron", "deno", "d8"}

// sniffer is the plug-in. It keeps the contents of files while it runs.
type sniffer struct {
	mu   sync.Mutex
	kept []*listing // the one used last is last
	memo memo
}

// Describe implements [plugin.Sniffer].
func (s *sniffer) Describe() plugin.Description {
	return plugin.Description{
		Name: "perfmap", Version: "1.0.0", Architectures: []string{"amd64", "arm64"},
		Claims: &plugin.Claims{OutsideModules: true, Modules: embedders},
		Needs:  plugin.Needs{Stack: stack, CodeBefore: codeBefore, CodeAfter: codeAfter},
	}
}

// Begin implements [plugin.Sniffer].
func (s *sniffer) Begin(t *plugin.Target) (plugin.Session, error) {
	r := readers[t.Arch]
	if r == nil {
		return nil, errors.New("code of " + t.Arch + " is not known")
	}
	modules, err := t.Modules()
	if err != nil {
		return nil, err
	}
	listings, err := s.open(t, modules, r.arch)
	if err != nil {
		return nil, err
	}
	return &session{reader: r, memory: t, listings: listings, modules: modules, memo: &s.memo}, nil
}

// keep returns the kept listing of a file, or else keeps the new one.
func (s *sniffer) keep(l *listing) *listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.kept, l.same); i >= 0 {
		l.file.Close()
		l = s.kept[i]
		s.kept = slices.Delete(s.kept, i, i+1)
	}
	s.kept = append(s.kept, l)
	if len(s.kept) > maxKept {
		s.kept = slices.Delete(s.kept, 0, 1) // a session may still use it, so it is not closed here
	}
	return l
}

// readers has the readers of the supported architectures, by GOARCH's names.
var readers = map[string]*reader{"amd64": readAMD64, "arm64": readARM64}

// memory is the part of the host that a session uses.
type memory interface {
	ReadMemory(addr uint64, p []byte) (n int, err error)
}

// session answers about one process.
type session struct {
	reader   *reader
	memory   memory
	listings []*listing // the most complete one is first
	modules  []plugin.Module
	memo     *memo
}

// Sniff implements [plugin.Session].
func (s *session) Sniff(q *plugin.Query) plugin.Answer {
	early := false
	for _, l := range s.listings {
		early = errors.Is(l.update(laterReading), errNotYet) || early
	}
	if early { // a record that was not read yet may be for the same code
		return plugin.Answer{Why: unfinished, Once: true}
	}
	for _, at := range s.places(q) {
		for _, l := range s.listings {
			if c, ok := l.find(at); ok {
				return s.answer(q, l, c, q.AddressInBlock-at)
			}
		}
	}
	return plugin.Answer{Why: unlisted, Never: s.never(q)}
}

// places returns where a listing may have the code of a query: at its own address, and at the other
// mappings of that part of its file. V8 maps its builtins a second time, near the code that it
// makes, and lists them once.
func (s *session) places(q *plugin.Query) []uint64 {
	at := []uint64{q.AddressInBlock}
	here, ok := around(q.Module, q.AddressInBlock)
	if !ok {
		return at
	}
	offset := q.AddressInBlock - here.Lo + here.Offset
	for i := range s.modules {
		if s.modules[i].Path != q.Module.Path {
			continue
		}
		for _, m := range s.modules[i].Mappings {
			if m.Exec && m.Lo != here.Lo && offset >= m.Offset && offset-m.Offset < m.Hi-m.Lo {
				at = append(at, m.Lo+offset-m.Offset)
			}
		}
	}
	return at
}

// around returns the mapping of a module that holds an address.
func around(m *plugin.Module, addr uint64) (plugin.Mapping, bool) {
	if m == nil {
		return plugin.Mapping{}, false
	}
	i := slices.IndexFunc(m.Mappings, func(m plugin.Mapping) bool { return addr >= m.Lo && addr < m.Hi })
	if i < 0 {
		return plugin.Mapping{}, false
	}
	return m.Mappings[i], true
}

// never returns the code around a query that no listing has and the plug-in never claims: JITs make
// no code in a file's mapping.
func (s *session) never(q *plugin.Query) []plugin.Range {
	m, ok := around(q.Module, q.AddressInBlock)
	if !ok {
		return nil
	}
	before, behind := q.AddressInBlock-m.Lo, m.Hi-q.AddressInBlock // how far the mapping extends
	for _, at := range s.places(q) {
		for _, l := range s.listings {
			lo, hi := l.gap(at)
			before, behind = min(before, at-lo), min(behind, hi-at)
		}
	}
	return []plugin.Range{{Lo: q.AddressInBlock - before, Hi: q.AddressInBlock + behind}}
}

// answer answers about a query in code that is listed, shift bytes from where it is.
func (s *session) answer(q *plugin.Query, l *listing, c code, shift uint64) plugin.Answer {
	d, err := l.describe(c)
	if err != nil {
		return plugin.Answer{Why: gone, Once: true}
	}
	begins := c.lo == d.lo
	c.lo, c.hi = c.lo+shift, c.hi+shift
	d = d.moved(d.lo+shift, d.hi-d.lo)
	a := plugin.Answer{}
	symbol := symbolOf(d.name)
	symbol.Range = plugin.Range{Lo: c.lo, Hi: c.hi}
	lines := plugin.Range{Lo: c.lo, Hi: c.hi}
	if symbol.Function != "" {
		a.Symbols, lines = withLines(symbol, d.lines, q.AddressInBlock)
	}
	if !begins {
		a.Why = halfGone
		return a
	}
	code, why := s.code(q, d)
	if why != "" {
		a.Why = why
		return a
	}
	f := formOf(s.reader, d.name)
	row, why := s.memo.row(s.reader, code, d.lo, q.PC, q.AddressInBlock, f)
	row.Others = others(s.reader, row.Others, f)
	switch {
	case why != "":
		a.Why = why
	case !s.reader.fits(&row, &q.Registers):
		a.Why, a.Once = inward, true
	default:
		const page = 4096 // a page is mapped as one piece, whatever a process says of its code
		start := q.AddressInBlock &^ (page - 1)
		clip(&row, max(lines.Lo, start), min(lines.Hi, start+page))
		a.Row = &row
	}
	if a.Row != nil && d.name == interpreter && s.reader.isBody(a.Row) {
		a.Row.Flags |= trad.Once // frames with the same PC may be of other functions
		if of, ok := s.interpreted(q); ok {
			symbol.Function, symbol.File, symbol.Line = of.Function, of.File, of.Line
			a.Name = &symbol
		}
	}
	return a
}

// withLines returns the symbols of a function with lines, as many around block as fit into an
// answer, and the code that they are for: the row holds there only, so that the host asks again for
// other lines.
func withLines(function plugin.Symbol, lines []line, block uint64) (list []plugin.Symbol, of plugin.Range) {
	const most = 60 // an answer has 64 symbols, and the function is one
	of = function.Range
	list = []plugin.Symbol{function}
	if len(lines) == 0 {
		return list, of
	}
	list[0].File, list[0].Line = lines[0].file, lines[0].number
	here := sort.Search(len(lines), func(i int) bool { return lines[i].addr > block }) - 1
	first := max(0, here-most/2)
	last := min(len(lines), first+most)
	if first > 0 {
		of.Lo = max(of.Lo, lines[first].addr)
	}
	if last < len(lines) {
		of.Hi = min(of.Hi, lines[last].addr)
	}
	for i := first; i < last; i++ {
		part := plugin.Symbol{Range: function.Range, Function: function.Function, File: lines[i].file, Line: lines[i].number, Start: function.Lo}
		part.Lo = max(part.Lo, lines[i].addr)
		if i+1 < len(lines) {
			part.Hi = min(part.Hi, lines[i+1].addr)
		}
		if part.Lo < part.Hi {
			list = append(list, part)
		}
	}
	return list, of
}

// code returns a function's machine code, from its entry to beyond the query's block.
func (s *session) code(q *plugin.Query, d description) (code []byte, why string) {
	if q.AddressInBlock-d.lo >= maxFunction {
		return nil, tooLong
	}
	hi := min(d.hi, d.lo+maxFunction)
	if off, end := d.lo-q.Code.Addr, hi-q.Code.Addr; off < end && end <= uint64(len(q.Code.Data)) {
		return q.Code.Data[off:end], ""
	}
	code = make([]byte, hi-d.lo)
	for off := 0; off < len(code); off += maxRead {
		part := code[off:min(len(code), off+maxRead)]
		if n, err := s.memory.ReadMemory(d.lo+uint64(off), part); err != nil {
			code = code[:off+n]
		}
	}
	if uint64(len(code)) <= q.AddressInBlock-d.lo {
		return nil, unreadable
	}
	return code, ""
}

// others returns the rules of the registers that have no place in a row itself: the places of the
// registers that are saved. Nothing promises that the others survive the calls of the code.
func others(r *reader, read *trad.OtherRules, f form) *trad.OtherRules {
	if f == abiding && read != nil {
		return read
	}
	rest := &trad.OtherRules{}
	for _, reg := range r.preserved {
		rule := read.Rule(reg)
		switch {
		case f >= lossy:
			rule = trad.Rule{Kind: trad.Undefined}
		case !saved(rule):
			continue
		}
		rest.Regs = append(rest.Regs, trad.RegRule{Reg: reg, Rule: rule})
	}
	return rest
}

// fits reports whether the CFA of a frame lies outward of its SP, as far as its registers are
// known. While an exception is thrown, SP is the handler's and FP is not.
func (r *reader) fits(row *trad.Row, regs *arch.Registers) bool {
	sp, known := regs.Get(r.arch.SP)
	base, knownBase := regs.Get(row.CFA.Reg)
	return row.CFA.Kind != trad.InReg || !known || !knownBase ||
		!r.arch.InnerThan(row.CFA.At(base), sp)
}

// clip bounds a row's range to [lo, hi).
func clip(row *trad.Row, lo, hi uint64) {
	lo, hi = max(lo, row.Lo), min(hi, row.Lo+uint64(row.Len))
	row.Lo, row.Len = lo, uint32(hi-lo)
}
