package fromelf

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

// counter counts what was written.
type counter struct {
	w       io.Writer
	n, most int64
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n+int64(len(p)) > c.most {
		return 0, fmt.Errorf("%w: %d MiB", ErrLarge, c.most>>20)
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// WriteHeader writes MODULE and INFO alone.
func (d *Dump) WriteHeader(w io.Writer) error {
	b, err := d.Module.AppendText(nil)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if d.CodeID != "" {
		b = append(b, "INFO CODE_ID "+d.CodeID+"\n"...)
	}
	_, err = w.Write(b)
	return err
}

// WriteTo writes the symbol file. It implements [io.WriterTo], and is called once.
func (d *Dump) WriteTo(to io.Writer) (int64, error) {
	count := &counter{w: to, most: d.maxSize}
	w := bufio.NewWriterSize(count, 64<<10)
	err := d.WriteHeader(w)
	if err == nil {
		err = d.writeSymbols(w)
	}
	if err == nil && !d.opts.NoCFI {
		d.names, d.files = nil, nil // as much memory is free again
		err = d.writeCFI(w)
	}
	if err == nil {
		err = w.Flush()
	}
	return count.n, err
}

func (d *Dump) writeSymbols(w *bufio.Writer) error {
	list := d.collect()
	publics := d.publics()
	want := make([]bool, len(d.names.list))
	readable := make([]string, len(want))
	for i := range list {
		want[list[i].name] = true
	}
	for i := range publics {
		want[publics[i].name] = true
	}
	d.readAll(want, readable)
	publics = d.withoutFunctions(publics, list, readable)
	list = d.order(list, readable)

	files, origins := d.used(list)
	fileNumbers := number(files, d.files.list)
	d.readAll(origins, readable)
	originNumbers := number(origins, readable)
	d.Funcs, d.Publics = len(list), len(publics)
	var b []byte
	for _, i := range fileNumbers.order {
		b = append(strconv.AppendUint(append(b[:0], "FILE "...), uint64(fileNumbers.of[i]), 10), ' ')
		b = append(append(b, oneLine(d.files.list[i])...), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	for _, i := range originNumbers.order {
		b = append(strconv.AppendUint(append(b[:0], "INLINE_ORIGIN "...), uint64(originNumbers.of[i]), 10), ' ')
		b = append(append(b, readable[i]...), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	f := formatter{d: d, readable: readable, files: fileNumbers.of, origins: originNumbers.of}
	if err := f.writeAll(w, list); err != nil {
		return err
	}
	for _, p := range publics {
		b = append(b[:0], "PUBLIC "...)
		if p.multiple {
			b = append(b, "m "...)
		}
		b = append(strconv.AppendUint(b, p.addr-d.load, 16), " 0 "...)
		b = append(append(b, readable[p.name]...), '\n')
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func oneLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' {
			return strconv.Quote(s)
		}
	}
	return s
}

// used returns which files and origins the functions refer to, by their numbers in the tables.
func (d *Dump) used(list []found) (files, origins []bool) {
	files, origins = make([]bool, len(d.files.list)), make([]bool, len(d.names.list))
	var s scratch
	for i := range list {
		list[i].each(&s, func(_, _ uint64, file, origin uint32, _ []breakpad.Range) {
			if file > 0 {
				files[file-1] = true
			}
			origins[origin] = true
		}, func(l row) {
			if l.file > 0 {
				files[l.file-1] = true
			}
		})
	}
	return files, origins
}

// numbers are numbers of records.
type numbers struct {
	of    []int32 // by number in a table
	order []uint32
}

// number numbers the used texts by their order, equal ones alike.
func number(used []bool, text []string) numbers {
	n := numbers{of: make([]int32, len(used))}
	var order []uint32
	for i, u := range used {
		if u {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(text[a], text[b]), cmp.Compare(a, b)) })
	for _, i := range order {
		if k := len(n.order); k > 0 && text[n.order[k-1]] == text[i] {
			n.of[i] = int32(k - 1)
			continue
		}
		n.of[i] = int32(len(n.order))
		n.order = append(n.order, i)
	}
	return n
}

// formatter writes functions as text.
type formatter struct {
	d              *Dump
	readable       []string
	files, origins []int32
}

// batch is how many functions are formatted at a time.
const batch = 128

// writeAll writes all functions: formatted by all processors, written in their order.
func (f *formatter) writeAll(w io.Writer, list []found) error {
	type piece struct {
		functions []found
		done      chan []byte
	}
	workers := runtime.GOMAXPROCS(0)
	pieces, order := make(chan piece), make(chan piece, 2*workers)
	free := make(chan []byte, 4*workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var s scratch
			for p := range pieces {
				var b []byte
				select {
				case b = <-free:
				default:
				}
				b = b[:0]
				for i := range p.functions {
					b = f.append(b, &p.functions[i], &s)
				}
				p.done <- b
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(pieces)
		for len(list) > 0 {
			n := min(batch, len(list))
			p := piece{list[:n], make(chan []byte, 1)}
			list = list[n:]
			select {
			case order <- p:
			case <-stop:
				return
			}
			pieces <- p
		}
	})
	var err error
	for p := range order {
		b := <-p.done
		if err == nil {
			if _, err = w.Write(b); err != nil {
				close(stop)
			}
		}
		select {
		case free <- b:
		default:
		}
	}
	wg.Wait()
	return err
}

// maxRepeated bounds the work for a function in many parts that has many inlined calls. Those of a
// larger one are written with its first part.
const maxRepeated = 1 << 20

// append appends a function's records.
func (f *formatter) append(b []byte, fn *found, s *scratch) []byte {
	d := f.d
	like := d.opts.LikeDumpSyms
	s.lines, s.inlines = s.lines[:0], s.inlines[:0]
	fn.each(s, func(depth, line uint64, file, origin uint32, ranges []breakpad.Range) {
		in := inlineText{from: len(s.all)}
		s.all = append(s.all, ranges...)
		in.to, in.depth, in.line, in.origin, in.file = len(s.all), depth, line, f.origins[origin], -1
		if file > 0 {
			in.file = f.files[file-1]
		}
		s.inlines = append(s.inlines, in)
	}, func(l row) { s.lines = append(s.lines, l) })
	lines := s.lines
	many := len(s.code)*len(s.inlines) > maxRepeated
	for i, part := range s.code {
		b = append(b, "FUNC "...)
		if fn.multiple {
			b = append(b, "m "...)
		}
		b = append(appendHex(b, part.Address-d.load), ' ')
		b = append(appendHex(b, part.Size), " 0 "...)
		b = append(append(b, f.readable[fn.name]...), '\n')
		for j := range s.inlines {
			in := &s.inlines[j]
			ranges := s.all[in.from:in.to]
			if i > 0 && many || !like && !many && len(s.code) > 1 && !in.belongs(ranges, s.code, i) {
				continue
			}
			b = append(strconv.AppendUint(append(b, "INLINE "...), in.depth, 10), ' ')
			b = append(strconv.AppendUint(b, in.line, 10), ' ')
			b = append(strconv.AppendInt(b, int64(in.file), 10), ' ')
			b = strconv.AppendInt(b, int64(in.origin), 10)
			for _, x := range ranges {
				b = append(appendHex(append(b, ' '), x.Address-d.load), ' ')
				b = appendHex(b, x.Size)
			}
			b = append(b, '\n')
		}
		for len(lines) > 0 && part.Contains(lines[0].addr) {
			l := &lines[0]
			b = append(appendHex(b, l.addr-d.load), ' ')
			b = append(appendHex(b, l.size), ' ')
			b = append(strconv.AppendInt(b, int64(int32(l.line)), 10), ' ')
			b = append(strconv.AppendInt(b, int64(f.files[l.file-1]), 10), '\n')
			lines = lines[1:]
		}
	}
	s.all = s.all[:0]
	return b
}

// belongs reports whether an inlined call is to be written with the part i of a function's code:
// that in which it has code. One that has code in no part is written with the first.
func (in *inlineText) belongs(ranges, code []breakpad.Range, i int) bool {
	for _, x := range ranges {
		if code[i].Contains(x.Address) {
			return true
		}
	}
	if i > 0 {
		return false
	}
	for _, x := range ranges {
		for _, part := range code {
			if part.Contains(x.Address) {
				return false
			}
		}
	}
	return true
}

// inlineText is an inlined call as it is written.
type inlineText struct {
	depth, line  uint64
	file, origin int32
	from, to     int // its ranges in scratch.all
}

const digits = "0123456789abcdef"

// appendHex appends a hexadecimal number.
func appendHex(b []byte, v uint64) []byte {
	for shift := max(0, bits.Len64(v)-1) &^ 3; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&15])
	}
	return b
}
