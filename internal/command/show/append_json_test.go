package show

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// TestAppendJSON: frames and lines are written as package json writes them.
func TestAppendJSON(t *testing.T) {
	encode := func(v any) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	full := report.Frame{
		Level: 12, Type: frame.Normal.String(), PC: address.At(0xfedcba9876543210), Function: "f", Offset: 1 << 63, Module: "/bin/a b",
		BuildID: "0123", File: "/src/a.c", Line: 345, Sniffer: "breakpad",
	}
	list := []report.Frame{{}, full}
	for _, text := range []string{
		"operator<<(std::ostream&, A<B> const&)", `threads":[]`, `"threads":[]`, `,"frames":[]`, `C:\src\new.c`, "tab\there", "é€\U0001F600", "\xff\xc3(", "line\u2028separator\u2029", "\x00\x1b\x7f",
	} {
		x := full
		x.Function = text
		list = append(list, x)
		x.Function, x.File, x.Module, x.BuildID, x.Sniffer, x.Type = "g", text, text, text, text, text
		list = append(list, x)
	}
	for _, set := range []func(*report.Frame){
		func(x *report.Frame) { x.Guess = true }, func(x *report.Frame) { x.MovedOn = true }, func(x *report.Frame) { x.ID = "i" }, func(x *report.Frame) { x.TailCall = "t" },
		func(x *report.Frame) { x.Registers = []report.Register{{Name: "rax", Value: "0x1"}} }, func(x *report.Frame) { x.Explain = &report.Explanation{Row: "r"} },
		func(x *report.Frame) { x.Level, x.Line = -1, -2 },
	} {
		x := full
		set(&x)
		list = append(list, x)
	}
	for i := range list {
		if got, want := string(appendEntry([]byte("x"), &list[i]))+"\n", "x"+encode(&list[i]); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}
