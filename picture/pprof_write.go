package picture

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// message is an encoded message of Protocol Buffers. profile.proto has its fields, by their
// numbers. The library of pprof would do, but its package compiles regular expressions at the start
// of each program that links it.
type message []byte

// number appends a field of type int64, uint64 or bool, unless it is 0, which readers take it for
// if it is missing.
func (m *message) number(field int, value uint64) {
	if value != 0 {
		m.element(field, value)
	}
}

// element appends a number, be it 0, of a repeated field.
func (m *message) element(field int, value uint64) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3) // wire type 0: varint
	*m = binary.AppendUvarint(*m, value)
}

func (m *message) flag(field int, value bool) {
	if value {
		m.element(field, 1)
	}
}

// numbers appends a repeated field: packed, if there are more than two.
func (m *message) numbers(field int, values []uint64) {
	if len(values) <= 2 {
		for _, v := range values {
			m.element(field, v)
		}
		return
	}
	var packed message
	for _, v := range values {
		packed = binary.AppendUvarint(packed, v)
	}
	m.bytes(field, packed)
}

// bytes appends a field that is a string or a message.
func (m *message) bytes(field int, value []byte) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|2) // wire type 2: length-delimited
	*m = binary.AppendUvarint(*m, uint64(len(value)))
	*m = append(*m, value...)
}

// stringTable has each string of a profile once. Index 0 is "".
type stringTable struct {
	index map[string]uint64
	list  []string
}

func (t *stringTable) add(text string) uint64 {
	at, ok := t.index[text]
	if !ok {
		at = uint64(len(t.list))
		t.index[text] = at
		t.list = append(t.list, text)
	}
	return at
}

// write writes the profile. Fields, strings and labels have the order in which
// pprof's own library writes them: a test compares the bytes.
func (b *profile) write(out io.Writer) error {
	zip := gzip.NewWriter(out)
	texts := stringTable{index: map[string]uint64{}}
	texts.add("")
	var part, profile message
	var failed error
	// part goes out as one more element of a field.
	emit := func(field int) {
		profile.bytes(field, part)
		part = part[:0]
		if len(profile) >= 1<<16 && failed == nil {
			_, failed = zip.Write(profile)
			profile = profile[:0]
		}
	}
	valueType := func(t Type) {
		part.number(1, texts.add(t.Name))
		part.number(2, texts.add(t.Unit))
	}
	for _, t := range b.stacks.Types {
		valueType(t)
		emit(1)
	}
	var locations []uint64
	for i := range b.stacks.Samples {
		x := &b.stacks.Samples[i]
		locations = b.locate(locations[:0], x)
		b.sample(&part, x, locations, &texts)
		emit(2)
	}
	b.mainFirst()
	for _, m := range b.mappingList {
		part.number(1, uint64(m.id))
		part.number(2, m.Lo)
		part.number(3, m.Hi)
		part.number(4, m.Offset)
		part.number(5, texts.add(printable.Escape(m.Path)))
		part.number(6, texts.add(printable.Escape(m.BuildID)))
		part.flag(7, m.functions)
		part.flag(8, m.files)
		part.flag(9, m.lines)
		part.flag(10, m.inlined)
		emit(3)
	}
	for i, l := range b.locationList {
		part.number(1, uint64(i+1))
		if l.mapping != nil {
			part.number(2, uint64(l.mapping.id))
		}
		part.number(3, l.address)
		for _, x := range l.lines {
			var line message
			line.number(1, uint64(x.function))
			line.number(2, uint64(x.number))
			part.bytes(4, line)
		}
		emit(4)
	}
	for i, f := range b.functionList {
		part.number(1, uint64(i+1))
		part.number(2, texts.add(f.name))
		part.number(3, texts.add(f.name)) // as the linker has it
		part.number(4, texts.add(f.file))
		emit(5)
	}
	valueType(b.stacks.PeriodType)
	period := slices.Clone(part)
	part = part[:0]
	for _, text := range texts.list {
		part = append(part, text...)
		emit(6)
	}
	if !b.stacks.Time.IsZero() {
		profile.number(9, uint64(b.stacks.Time.UnixNano()))
	}
	profile.number(10, uint64(b.stacks.Duration.Nanoseconds()))
	if len(period) > 0 {
		profile.bytes(11, period)
	}
	profile.number(12, uint64(b.stacks.Period))
	profile.element(14, 0) // the type that is shown if none is asked for: the last
	if failed == nil {
		_, failed = zip.Write(profile)
	}
	if failed != nil {
		return failed
	}
	return zip.Close()
}

// sample appends the fields of one sample. Labels of one key stay in their order.
func (b *profile) sample(m *message, x *Sample, locations []uint64, texts *stringTable) {
	m.numbers(1, locations)
	values := make([]uint64, len(x.Values))
	for i, v := range x.Values {
		values[i] = uint64(v)
	}
	m.numbers(2, values)
	label := func(key string, field int, value uint64) {
		var l message
		l.number(1, texts.add(key))
		l.number(field, value)
		m.bytes(3, l)
	}
	named := map[string][]string{}
	for _, l := range x.Texts {
		named[l.Key] = append(named[l.Key], l.Value)
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		texts.add(key)
		for _, value := range named[key] {
			label(key, 2, texts.add(printable.Escape(value)))
		}
	}
	numbered := map[string][]int64{}
	for _, l := range x.Numbers {
		numbered[l.Key] = append(numbered[l.Key], l.Value)
	}
	for _, key := range slices.Sorted(maps.Keys(numbered)) {
		for _, value := range numbered[key] {
			label(key, 3, uint64(value))
		}
	}
}
