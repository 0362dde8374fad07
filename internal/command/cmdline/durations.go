package cmdline

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// duration is a flag: a time with units, as in 1m30s, or a number of seconds.
type duration time.Duration

// Duration defines a flag that is a time. A number without a unit is seconds, as perf, py-spy and
// timeout(1) have it.
func Duration(f *pflag.FlagSet, d *time.Duration, name string, usual time.Duration, usage string) {
	DurationP(f, d, name, "", usual, usage)
}

// DurationP is Duration for a flag that has a letter, too.
func DurationP(f *pflag.FlagSet, d *time.Duration, name, letter string, usual time.Duration, usage string) {
	*d = usual
	f.VarP((*duration)(d), name, letter, usage)
}

var (
	errDuration = errors.New("want seconds, as 10 or 0.5, or a time with units, as 500ms or 1m30s")
	errTooLong  = errors.New("want less than 292 years")
)

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	if strings.Trim(strings.TrimPrefix(text, "-"), "0123456789.") != "" {
		x, err := time.ParseDuration(text)
		if err != nil {
			return errDuration
		}
		*d = duration(x)
		return nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && math.Abs(seconds) >= math.MaxInt64/1e9:
		return errTooLong
	case err != nil:
		return errDuration
	}
	*d = duration(math.Round(seconds * 1e9))
	return nil
}

// String implements pflag.Value. Usage shows no default that is zero.
func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }
