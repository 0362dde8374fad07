package expression

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// number reads a number.
func (p *parser) number(n *Node, t token) error {
	text, of := strings.ToLower(t.text), ""
	switch p.language {
	case "rust":
		text, of = rustNumber(text)
	case "go":
		text = strings.ReplaceAll(text, "_", "")
	}
	hex := strings.HasPrefix(text, "0x")
	if strings.Contains(text, ".") || !hex && strings.Contains(text, "e") || hex && strings.Contains(text, "p") {
		n.Kind = Float
		if body, ok := strings.CutSuffix(text, "f"); ok && (!hex || strings.Contains(text, "p")) {
			text, n.Suffix = body, "f"
		} else if body, ok := strings.CutSuffix(text, "l"); ok {
			text, n.Suffix = body, "l"
		}
		v, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrRange) { // infinite, or 0
			err = nil
		}
		if err != nil || strings.Contains(text, "_") {
			return p.fail(t.at, "not a number")
		}
		n.Float = v
		return nil
	}
	n.Kind = Integer
	body := strings.TrimRight(text, "ul")
	n.Suffix = text[len(body):]
	if !slices.Contains([]string{"", "u", "l", "ul", "lu", "ll", "ull", "llu"}, n.Suffix) {
		return p.fail(t.at, "not a number")
	}
	base := 10
	switch {
	case hex:
		body, base = body[2:], 16
	case strings.HasPrefix(body, "0b"):
		body, base = body[2:], 2
	case len(body) > 1 && body[0] == '0':
		base = 8
	}
	v, err := strconv.ParseUint(body, base, 64)
	if err != nil {
		if numErr, ok := err.(*strconv.NumError); ok && numErr.Err == strconv.ErrRange {
			return p.fail(t.at, "a number of more than 64 bits")
		}
		return p.fail(t.at, "not a number")
	}
	n.Int, n.Base = v, base
	if of != "" {
		n.Suffix = of
	}
	return nil
}

// rustNumber returns a number of Rust as C has it: without underscores, and without a type at its
// end, which it returns of an integer.
func rustNumber(text string) (number, of string) {
	text = strings.ReplaceAll(text, "_", "")
	for _, t := range []string{"i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"} {
		if body, ok := strings.CutSuffix(text, t); ok && body != "" && body != "0x" {
			return body, t
		}
	}
	if !strings.HasPrefix(text, "0x") {
		for _, t := range []string{"f32", "f64"} {
			if body, ok := strings.CutSuffix(text, t); ok && body != "" {
				if !strings.ContainsAny(body, ".e") {
					body += ".0"
				}
				return body, ""
			}
		}
	}
	return text, ""
}
