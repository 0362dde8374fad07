package java

// numbers reads a stream of compressed numbers (UNSIGNED5): each takes one to five bytes.
type numbers struct {
	bytes []byte
	least uint8 // what each byte has added: 1 where no byte may be zero
	short bool  // the stream has ended within a number, or holds a byte that is none
}

const (
	highBits = 6 // of a byte that another one follows
	highs    = 1 << highBits
	longest  = 5 // bytes
)

// next reads a number.
func (n *numbers) next() (v uint32) {
	low := 256 - uint32(n.least) - highs // bytes below it end a number
	for i := range longest {
		if len(n.bytes) == 0 || n.bytes[0] < n.least {
			n.short = true
			return 0
		}
		b := uint32(n.bytes[0] - n.least)
		n.bytes = n.bytes[1:]
		v += b << (highBits * i)
		if b < low {
			break
		}
	}
	return v
}

// signed reads a number that may be negative.
func (n *numbers) signed() int32 {
	v := n.next()
	return int32(v>>1) ^ -int32(v&1)
}

// lineAt returns the line of the bytecode at index bci, by the compressed table of lines of a
// method; 0 if the table does not tell.
func lineAt(table []byte, least uint8, bci int32) int {
	n := numbers{bytes: table, least: least}
	var at, line, best, of int32
	for len(n.bytes) > 0 {
		b := n.bytes[0]
		n.bytes = n.bytes[1:]
		switch b {
		case 0:
			return int(max(of, 0))
		case 0xff:
			at += n.signed()
			line += n.signed()
		default:
			at += int32(b >> 3)
			line += int32(b & 7)
		}
		if n.short {
			return 0
		}
		if at == bci {
			return int(max(line, 0))
		}
		if at < bci && at >= best {
			best, of = at, line
		}
	}
	return 0 // the table does not end
}
