package golang

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/value"
)

// moment returns the moment that a time.Time means, as Delve writes it.
func moment(v *value.Value, t *value.Type) (text string, ok bool) {
	if t.Name != "time.Time" {
		return "", false
	}
	w, ok1 := v.Member("wall")
	e, ok2 := v.Member("ext")
	wall, err := w.Uint()
	x, err2 := e.Uint()
	if !ok1 || !ok2 || err != nil || err2 != nil {
		return "", false
	}
	ext := int64(x)
	zone := time.UTC
	if loc, ok := v.Member("loc"); ok {
		if at, err := loc.Uint(); err == nil && at != 0 {
			place := loc.Deref()
			if name, ok := place.Member("name"); ok {
				if z, err := time.LoadLocation(textOf(&name, 64)); err == nil {
					zone = z
				}
			}
		}
	}
	const (
		monotonic = 1 << 63 // wall has seconds from 1885 on and nanoseconds, ext is the monotonic clock
		seconds   = 30      // the bit of wall with which they begin
	)
	if wall&monotonic != 0 {
		from := time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		when := time.Unix(int64(wall<<1>>(seconds+1))+from, 0).In(zone)
		sign := ""
		if ext >= 0 {
			sign = "+"
		}
		return when.Format(time.RFC3339) + ", " + sign + strconv.FormatInt(ext, 10), true
	}
	if ext > math.MaxInt64/int64(time.Second)*1000 {
		return "", false
	}
	from := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	return time.Unix(ext+from, 0).In(zone).Format(time.RFC3339), true
}

// textOf returns the text of a string of up to n bytes; "" if it is longer or cannot be read.
func textOf(v *value.Value, n uint64) string {
	if kind, _ := v.Type.GoKind(); kind != reflect.String {
		return ""
	}
	addr, err := v.Word(0)
	length, err2 := v.Word(1)
	if err != nil || err2 != nil || length > n {
		return ""
	}
	b := make([]byte, length)
	if v.ReadMemory(addr, b) != nil {
		return ""
	}
	return string(b)
}

// float returns a floating-point number with as many digits as tell it from all others.
func float(v *value.Value, b []byte) string {
	n := word(v, b)
	var x float64
	if len(b) == 4 {
		x = float64(math.Float32frombits(uint32(n)))
	} else {
		x = math.Float64frombits(n)
	}
	return strconv.FormatFloat(x, 'f', -1, 8*len(b))
}
