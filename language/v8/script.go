package v8

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// place is a place in a script.
type place struct {
	file         string
	line, column int // from 1 on; 0 if that is not known
}

// Bounds of scripts.
const (
	mostSource    = 32 << 20 // characters
	mostLines     = 1 << 21
	mostKeptLines = 4 << 20 // of all scripts
)

// placeOf returns the place at a position in a script. The position is -1 if it is not known.
func (h *heap) placeOf(lines *lineTables, script uint64, position int) (p place) {
	if script == 0 {
		return p
	}
	if name := h.field(script, h.scriptName); h.isString(name) {
		p.file = h.text(name)
	}
	url := ""
	if v := h.field(script, h.scriptURLAt); h.isString(v) {
		url = h.text(v)
	}
	if url != "" { // "//# sourceURL=…" stands before the name
		p.file = url
	}
	if p.file == "" && h.isEval(script) {
		p.file = h.origin(lines, script, 0) + ", " + anonymous
	}
	line, begin, ok := h.lineAt(lines, script, position)
	if position < 0 || !ok {
		return p
	}
	p.line, p.column = line+1, position-begin+1
	if first := h.small(script, h.scriptLine); first > 0 && url == "" {
		p.line += first
	}
	if column := h.small(script, h.scriptColumn); line == 0 && column > 0 {
		p.column += column
	}
	return p
}

// isEval reports whether a script was made by eval. Of late, some of these have another flag; but
// they have the function that has called eval.
func (h *heap) isEval(script uint64) bool {
	const evaluated = 1 // flags stand before the URL
	if script == 0 {
		return false
	}
	return h.small(script, h.scriptURLAt-h.word)&evaluated != 0 || h.packed && h.is(h.field(script, scriptFrom*h.word), h.types.shared)
}

// Words of a Script: the function that has called eval, and where.
const (
	scriptFrom         = 9
	scriptFromPosition = 10
)

// origin tells where the script of an eval comes from, as V8's own traces do.
func (h *heap) origin(lines *lineTables, script uint64, depth int) string {
	text := "eval at "
	shared := h.field(script, scriptFrom*h.word)
	f, ok := h.functionOf(shared)
	if !ok || depth == mostNested {
		h.Err()
		return text + anonymous
	}
	if f.name == "" {
		f.name = anonymous
	}
	text += f.name
	if f.script == 0 {
		return text
	}
	if h.isEval(f.script) {
		if p := h.placeOf(lines, f.script, -1); !strings.HasSuffix(p.file, ", "+anonymous) {
			return text + " (" + p.file + ")"
		}
		return text + " (" + h.origin(lines, f.script, depth+1) + ")"
	}
	position := h.small(script, scriptFromPosition*h.word)
	if position < 0 { // it is an offset in the bytecode
		position = h.positionAt(f.bytecode, -position)
	}
	p := h.placeOf(lines, f.script, position)
	if p.file == "" {
		return text + " (unknown source)"
	}
	if p.line > 0 {
		p.file = fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
	}
	return text + " (" + p.file + ")"
}

// lineAt returns the line, from 0 on, in which a position is, and where that line begins.
func (h *heap) lineAt(lines *lineTables, script uint64, position int) (line, begin int, ok bool) {
	ends := h.field(script, h.scriptEnds)
	if h.is(ends, h.types.fixed) {
		n := h.lengthOf(ends)
		if n > 0 && n <= mostLines {
			lo, hi := 0, n
			for lo < hi {
				if mid := (lo + hi) / 2; smallOf(h.element(ends, mid)) < position {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			if lo > 0 {
				begin = smallOf(h.element(ends, lo-1)) + 1
			}
			return lo, begin, h.OK() && lo < n
		}
	}
	list := h.linesOf(lines, script)
	if list == nil {
		return 0, 0, false
	}
	line, _ = slices.BinarySearch(list, int32(position))
	if line > 0 {
		begin = int(list[line-1]) + 1
	}
	return line, begin, true
}

// lineTables has where the lines of scripts end for which V8 has made no such table yet.
type lineTables struct {
	mu    sync.Mutex
	list  map[lineKey][]int32
	count int // of all lines
}

// lineKey tells a script. Objects move: the number and the length tell it from another one that is
// where it was.
type lineKey struct {
	source     uint64
	id, length int
}

// linesOf returns where the lines of a script end, nil if its source cannot be read.
func (h *heap) linesOf(lines *lineTables, script uint64) []int32 {
	source := h.field(script, h.scriptSource)
	key := lineKey{source, h.small(script, h.scriptID), h.length(source)}
	if key.length == 0 || key.length > mostSource || !h.OK() {
		return nil
	}
	lines.mu.Lock()
	defer lines.mu.Unlock()
	if list, ok := lines.list[key]; ok {
		return list
	}
	list := h.scanLines(source, key.length)
	if list == nil {
		return nil
	}
	if lines.count += len(list); lines.list == nil || lines.count > mostKeptLines {
		lines.list, lines.count = map[lineKey][]int32{}, len(list)
	}
	lines.list[key] = list
	return list
}

// scanLines looks for the ends of lines in a source.
func (h *heap) scanLines(source uint64, length int) []int32 {
	list := []int32{}
	at, returned := 0, false
	h.characters(source, length, func(p []byte, size int) bool {
		for i := 0; i < len(p); i += size {
			c := uint16(p[i])
			if size == 2 {
				c = h.Arch.Order.Uint16(p[i:])
			}
			if returned && c != '\n' {
				list = append(list, int32(at-1))
			}
			returned = c == '\r'
			if c == '\n' || c == 0x2028 || c == 0x2029 {
				list = append(list, int32(at))
			}
			at++
		}
		return len(list) < mostLines
	})
	if at != length {
		return nil
	}
	return append(list, int32(length))
}
