package plugincheck

import (
	"strings"
	"unicode"
)

// shown makes a plug-in's text fit to be shown: one line, without control characters.
func shown(text string, longest int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, text)
}

// showable reports whether text can be shown as it is.
func showable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
