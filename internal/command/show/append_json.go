package show

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// AppendJSON appends a value that has no errors, as it is printed.
func AppendJSON(b []byte, v any) []byte {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.Encode(v) // with a newline
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// appendEntry is AppendJSON for a frame, of which there are many: package json takes five times as
// long.
func appendEntry(b []byte, x *report.Frame) []byte {
	if x.Signal != nil || x.Guess || x.MovedOn || x.ID != "" || x.TailCall != "" || len(x.Registers) > 0 || x.Explain != nil || x.Args != nil || x.Locals != nil || x.Print != nil || x.Source != nil || x.Language != "" || x.Hidden || x.DecoratedBy != "" {
		return AppendJSON(b, x)
	}
	b = strconv.AppendInt(append(b, `{"level":`...), int64(x.Level), 10)
	b = appendText(append(b, `,"type":`...), x.Type)
	b = x.PC.Append(append(b, `,"pc":`...))
	b = x.CFA.Append(append(b, `,"cfa":`...))
	b = appendText(append(b, `,"function":`...), x.Function)
	if x.NameFrom != "" {
		b = appendText(append(b, `,"name_from":`...), x.NameFrom)
	}
	b = strconv.AppendUint(append(b, `,"offset":`...), x.Offset, 10)
	b = appendText(append(b, `,"module":`...), x.Module)
	b = appendText(append(b, `,"build_id":`...), x.BuildID)
	b = appendText(append(b, `,"file":`...), x.File)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(x.Line), 10)
	b = appendText(append(b, `,"sniffer":`...), x.Sniffer)
	return append(b, '}')
}

// appendText is AppendJSON for a string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return AppendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
