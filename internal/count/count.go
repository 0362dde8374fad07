// Package count writes numbers with what they count, for messages: "1 thread", "2 threads".
package count

import (
	"fmt"
	"strings"
)

// Number is a whole number.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// Of returns a number with the name of what it counts, given for one: "1 page", "2 pages",
// "3 processes", "0 entries". Of several words, the last one is the name: "2 debug files".
func Of[T Number](n T, what string) string {
	if n != 1 {
		what = plural(what)
	}
	return fmt.Sprintf("%d %s", n, what)
}

// plural returns the plural of an English word, of regular ones.
func plural(what string) string {
	stem, isY := strings.CutSuffix(what, "y")
	switch {
	case isY && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(what, "s"), strings.HasSuffix(what, "x"), strings.HasSuffix(what, "ch"), strings.HasSuffix(what, "sh"):
		return what + "es"
	}
	return what + "s"
}

// Verb returns the form of a verb that agrees with a number: one for 1, and many for all others.
func Verb[T Number](n T, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
