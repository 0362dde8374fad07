package structs

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Absent is what [Fill] leaves in a field of which a table says nothing.
const Absent = ^uint64(0)

// mostNumber bounds the numbers of a table: offsets, sizes and constants of run times.
const mostNumber = 1 << 40

// Fill reads a table of names and numbers, one of each a line, into the struct to which into
// points. Each of its fields is a uint64 and has the name in the tag `table`. A field that the
// table lacks is [Absent] if the tag ends with ",optional"; else it is an error. Names that no
// field has are left out, and so are lines that begin with "#".
func Fill(text string, into any) error {
	numbers := map[string]uint64{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) != 2 {
			return fmt.Errorf("a line has not a name and a number: %q", line)
		}
		n, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil || n >= mostNumber {
			return fmt.Errorf("%s is no number of a table: %q", words[0], words[1])
		}
		numbers[words[0]] = n
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, more, _ := strings.Cut(v.Type().Field(i).Tag.Get("table"), ",")
		n, ok := numbers[name]
		switch {
		case name == "":
			continue
		case !ok && more != "optional":
			return fmt.Errorf("the table lacks %s", name)
		case !ok:
			n = Absent
		}
		v.Field(i).SetUint(n)
	}
	return nil
}
