//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// Control characters in names are escaped; values and everything else stay.
func TestShown(t *testing.T) {
	for doc, want := range map[string]string{
		`{"file":"/src/größe.go","name":"main.(*T[go.shape.int]).f \u003c\u003e\"\\"}`: `{"file":"/src/größe.go","name":"main.(*T[go.shape.int]).f \u003c\u003e\"\\"}`,
		`{"file":"a\u001b[2J\nb","value":"a\u001b[2J\nb\u009b"}`:                       `{"file":"a\\x1b[2J\\nb","value":"a\u001b[2J\nb\u009b"}`,
		`{"result":{"Funcs":["main.f","main.\r\u202e"],"n":1},"error":"x\ny\u0007"}`:   `{"result":{"Funcs":["main.f","main.\\r\\u202e"],"n":1},"error":"x\ny\\x07"}`,
		"{\"name\":\"\u009b31m\u202e\",\"value\":\"\u009b\"}\n":                        "{\"name\":\"\\\\u009b31m\\\\u202e\",\"value\":\"\u009b\"}\n",
		`{"a\u001b":{"type":"\t\\\""},"b":["\b"]}`:                                     `{"a\u001b":{"type":"\\t\\\""},"b":["\\x08"]}`,
		"":                      "",
		`"`:                     `"`,
		`{"x":"\u001b\`:         `{"x":"\u001b\`,
		`Content "\ud800\u001b`: `Content "\ud800\u001b`,
	} {
		if got := string(shown([]byte(doc))); got != want {
			t.Errorf("%s\nis shown as %s\nwant %s", doc, got, want)
		}
	}
}

// A JSON document stays one, with the same structure.
func FuzzShown(f *testing.F) {
	f.Add(`{"file":"a\u001b[2J\nb","value":["a\u001b"],"error":"x\ny\u0007"}`)
	f.Add(`[{"name":"\u009b\ud83d\ude00","n":1.5e3,"x":null},"\\\"\t"]`)
	f.Fuzz(func(t *testing.T, doc string) {
		var got string
		bounds.Hold(t, 4<<10+256*len(doc), func() { got = string(shown([]byte(doc))) })
		if !json.Valid([]byte(doc)) {
			return
		}
		if !json.Valid([]byte(got)) || strings.Count(got, "{") < strings.Count(doc, "{") {
			t.Fatalf("%q is shown as %q", doc, got)
		}
	})
}
