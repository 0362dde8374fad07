package address

import "strconv"

// Hex is an address; nil is one that is not known.
type Hex struct {
	V     uint64
	Known bool
}

// MarshalJSON implements [json.Marshaler].
func (h Hex) MarshalJSON() ([]byte, error) { return h.Append(nil), nil }

// Append appends h in JSON.
func (h Hex) Append(b []byte) []byte {
	if !h.Known {
		return append(b, "null"...)
	}
	return append(strconv.AppendUint(append(b, `"0x`...), h.V, 16), '"')
}

// At is an address that is known.
func At(v uint64) Hex { return Hex{v, true} }

// If is an address that may be known.
func If(v uint64, known bool) Hex { return Hex{v, known} }
