//go:build linux && (amd64 || arm64)

package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// Clients print messages on terminals, with names of the process's functions, files and types. All
// messages go through this file, which escapes control characters in names, wherever Delve has the
// names from.

// verbatim are the keys whose strings are not names: values, which clients quote, and output of the
// process.
var verbatim = map[string]bool{"value": true, "Value": true, "result": true, "output": true, "data": true}

// layout are the keys whose strings may have newlines and tabs.
var layout = map[string]bool{"error": true, "format": true, "message": true, "text": true, "description": true, "Out": true, "content": true}

// shown returns a JSON document with control characters in its names escaped.
func shown(doc []byte) []byte {
	if printable.Is(doc) && !escapes(doc) {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	key := ""
	for len(doc) > 0 {
		begin := bytes.IndexByte(doc, '"')
		if begin < 0 {
			break
		}
		end := begin + 1
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(doc) {
			break
		}
		text := doc[begin : end+1]
		out = append(out, doc[:begin]...)
		doc = doc[end+1:]
		switch {
		case bytes.HasPrefix(bytes.TrimLeft(doc, " "), []byte(":")):
			out, key = append(out, text...), string(text[1:len(text)-1])
		case verbatim[key]:
			out = append(out, text...)
		default:
			out = append(out, name(text, layout[key])...)
		}
	}
	return append(out, doc...)
}

// escapes reports whether strings of a document have escapes that json.Marshal does not make in
// printable text.
func escapes(doc []byte) bool {
	for {
		at := bytes.IndexByte(doc, '\\')
		if at < 0 || at+1 >= len(doc) {
			return false
		}
		doc = doc[at+1:]
		switch {
		case doc[0] == '"', doc[0] == '\\', doc[0] == '/':
			doc = doc[1:]
		case bytes.HasPrefix(doc, []byte("u003c")), bytes.HasPrefix(doc, []byte("u003e")), bytes.HasPrefix(doc, []byte("u0026")):
		default:
			return true
		}
	}
}

// name returns a JSON string with its control characters escaped; with lines, but for newlines and
// tabs.
func name(text []byte, lines bool) []byte {
	var old string
	if json.Unmarshal(text, &old) != nil {
		return text
	}
	var b strings.Builder
	for rest := old; rest != ""; {
		i := strings.IndexAny(rest, "\n\t")
		if !lines || i < 0 {
			b.WriteString(printable.Escape(rest))
			break
		}
		b.WriteString(printable.Escape(rest[:i]))
		b.WriteByte(rest[i])
		rest = rest[i+1:]
	}
	escaped := b.String()
	if escaped == old {
		return text
	}
	quoted, err := json.Marshal(escaped)
	if err != nil {
		return text
	}
	return quoted
}

// shownTo is a connection for JSON documents. Each Write has one whole document.
type shownTo struct{ io.WriteCloser }

func (s shownTo) Write(doc []byte) (int, error) {
	if _, err := s.WriteCloser.Write(shown(doc)); err != nil {
		return 0, err
	}
	return len(doc), nil
}
