package cmdline

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a flag: a number of bytes, with a unit or without.
type Size int64

// Set implements pflag.Value.
func (b *Size) Set(text string) error {
	number, unit := strings.TrimRight(text, "KMGTiB"), uint(0)
	if rest := text[len(number):]; rest != "" {
		i := strings.Index("KMGT", rest[:1])
		if i < 0 || rest[1:] != "" && rest[1:] != "B" && rest[1:] != "iB" {
			return errSize
		}
		unit = 10 * uint(i+1)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>unit {
		return errSize
	}
	*b = Size(n << unit)
	return nil
}

// String implements pflag.Value.
func (b *Size) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type implements pflag.Value.
func (b *Size) Type() string { return "size" }

var errSize = errors.New("want a number of bytes, or of K, M, G or T")

// UsualText bounds the text that a command writes without being told otherwise, bytes. Names may be
// long, and all threads of a small dump may have one and the same deep stack.
const UsualText = 64 << 20
