package procmaps

import (
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// A list that is read again and again is what Read returns of it. It is parsed once more as soon as
// a letter of it is another one.
func TestLast(t *testing.T) {
	const a = "1000-2000 r-xp 00000000 08:01 7 /a\n3000-4000 rw-p 00000000 00:00 0 [heap]\n"
	long := strings.Repeat("d", maxLine)
	var last Last
	var before []Mapping
	for i, text := range []string{
		a, a, strings.Replace(a, "/a", "/b", 1), a, strings.Replace(a, "rw-p", "rwxp", 1), a, a[:strings.IndexByte(a, '\n')+1],
		a + "5000-6000 r--p 0 0:0 0 " + long + "\n", a + "5000-6000 r--p 0 0:0 0 " + long + "\n", "", a,
		"3000-4000 r-xp 0 0:0 0\n1000-2000 r-xp 0 0:0 0\n", a, strings.Repeat("\n", maxKept) + a, a,
	} {
		var said, wantSaid []string
		got, err := last.Read(iotest.HalfReader(strings.NewReader(text)), func(format string, _ ...any) { said = append(said, format) })
		want, wantErr := Read(strings.NewReader(text), func(format string, _ ...any) { wantSaid = append(wantSaid, format) })
		if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) || !reflect.DeepEqual(said, wantSaid) {
			t.Errorf("list %d: %+v, %v, %q; Read: %+v, %v, %q", i, got, err, said, want, wantErr, wantSaid)
		}
		if i == 1 && &got[0] != &before[0] {
			t.Error("a list that has not changed is parsed once more")
		}
		before = got
	}
	if got, err := last.Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(a))), nil); err == nil {
		t.Errorf("a list that cannot be read: %+v", got)
	}
	if got, err := last.Read(strings.NewReader(a), nil); err != nil || len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}
