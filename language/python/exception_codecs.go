package python

import (
	"fmt"
	"strings"
)

// codecWords is str() of an exception of a codec with these arguments: its name, which
// UnicodeTranslateError lacks, the text, the first and the last place but one, and the reason.
func (o *objects) codecWords(builtin string, args []uint64) (string, error) {
	who, verb := "", "translate"
	if builtin != "UnicodeTranslateError" {
		if len(args) != 5 {
			return "", errNone
		}
		who, verb = "'"+o.asText(args[0])+"' codec ", strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(builtin, "Unicode"), "Error"))
		args = args[1:]
	}
	if len(args) != 4 {
		return "", errNone
	}
	var place [2]int64
	for i := range place {
		n, _, err := o.integer(args[1+i])
		if err != nil || n == nil || !n.IsInt64() || n.Int64() < 0 {
			return "", orNone(err)
		}
		place[i] = n.Int64()
	}
	start, end := place[0], place[1]
	reason := o.asText(args[3])
	units := "characters"
	var single string
	var err error
	if verb == "decode" {
		units = "bytes"
		single, err = o.byteWords(args[0], start)
	} else {
		single, err = o.characterWords(args[0], start)
	}
	if err != nil {
		return "", err
	}
	if end == start+1 && single != "" {
		return fmt.Sprintf("%scan't %s %s in position %d: %s", who, verb, single, start, reason), nil
	}
	return fmt.Sprintf("%scan't %s %s in position %d-%d: %s", who, verb, units, start, end-1, reason), nil
}

// byteWords writes a byte of an object of type bytes; "" behind its end.
func (o *objects) byteWords(object uint64, i int64) (string, error) {
	c, err := o.typeOf(object)
	if err != nil || c.flags&flagBytes == 0 {
		return "", orNone(err)
	}
	n, err := o.sizeOf(object)
	if err != nil || i >= n {
		return "", err
	}
	b, err := o.byteAt(object + o.layout.at[bytesData] + uint64(i))
	return fmt.Sprintf("byte 0x%02x", b), err
}

// characterWords writes a character of a string; "" behind its end.
func (o *objects) characterWords(object uint64, i int64) (string, error) {
	of, err := o.characters(object)
	if err != nil || uint64(i) >= of.length {
		return "", err
	}
	var room [4]byte
	raw := room[:of.size]
	if n, err := o.ReadMemory(of.at+uint64(i)*uint64(of.size), raw); n < len(raw) {
		return "", err
	}
	c := o.character(&of, raw)
	switch {
	case c < 0x100:
		return fmt.Sprintf(`character '\x%02x'`, c), nil
	case c < 0x10000:
		return fmt.Sprintf(`character '\u%04x'`, c), nil
	}
	return fmt.Sprintf(`character '\U%08x'`, c), nil
}
