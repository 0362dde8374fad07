package ecma335

import (
	"bytes"
	"testing"
)

func metadata(t *testing.T, name string) *Metadata {
	t.Helper()
	a, err := OpenAssembly(bytes.NewReader(read(t, name)), false)
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNames reads the names of all methods of testdata/stops.cs: what is in the source is there.
func TestNames(t *testing.T) {
	m := metadata(t, "stops.dll")
	all := map[string]bool{}
	for row := uint32(1); row <= m.rows[methods]; row++ {
		n := m.Method(row)
		all[n.Type+"|"+n.Method] = true
	}
	for _, want := range []string{
		"Stops.Slot|Begin", "Stops.Cart`1|Add[U]", "Stops.Cart`1|op_Addition", "Stops.Cart`1|get_Count", "Stops.Cart`1.Piece`1|Weigh",
		"Stops.Cart`1.Piece`1|<Weigh>g__Local|0_0", "Stops.Once`1|.cctor", "Stops.Runs|Stops.IRuns.Run", "Stops.Shape|Pass[T]",
		"Stops.Kinds|Numbers", "Stops.Kinds|Waits", "Stops.Kinds|WaitsFor[T]", "Stops.Kinds.Kept|Instance", "Stops.Program|Main",
	} {
		if !all[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestLines holds the lines of a PDB against the source: the places of a method are on the lines
// where the source has its statements.
func TestLines(t *testing.T) {
	m := metadata(t, "stops.dll")
	lines, err := Open(bytes.NewReader(read(t, "stops.pdb")), 0)
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenAssembly(bytes.NewReader(read(t, "stops.dll")), false)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := a.Debug(); !ok || d.ID != lines.ID() || d.Embedded != nil {
		t.Errorf("the assembly names %x, %v; the PDB is %x", d.ID, ok, lines.ID())
	}
	source := bytes.Split(read(t, "stops.cs"), []byte("\n"))
	for row := uint32(1); row <= m.rows[methods]; row++ {
		n := m.Method(row)
		want, ok := map[string]string{
			"Stops.Cart`1|Add[U]":             "if (n > 0)",
			"Stops.Kinds.Kept|Instance":       "Deep.Deepest() + n",
			"Stops.Runs|Stops.IRuns.Run":      "class Runs : IRuns",
			"Stops.Cart`1.Piece`1|Weigh":      "return Local(",
			"Stops.Deep|Deepest":              "Slot.Begin();",
			"Stops.Kinds|Optimized":           "return n == 0 ?",
			"Stops.Cart`1|get_Item":           "public int this[int i]",
			"Stops.Kinds.<>c|<Sorted>b__20_0": "list.Sort((a, b)",
		}[n.Type+"|"+n.Method]
		if !ok {
			continue
		}
		file, line := lines.Line(row, 0)
		if file != "stops.cs" || line < 1 || line > len(source) || !bytes.Contains(source[line-1], []byte(want)) {
			t.Errorf("%s.%s is at %s:%d, want the line with %q", n.Type, n.Method, file, line, want)
		}
	}
}
