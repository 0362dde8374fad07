package libstdcxx

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// stringObject writes a std::basic_string: of the ABI since GCC 5, or of the ABI before, whose
// length lies before the text.
func stringObject(o object) *value.Shown {
	addr, elem, ok := o.PointerTo("_M_dataplus", "_M_p")
	if !ok {
		return nil
	}
	if n, ok := o.Number("_M_string_length"); ok {
		return o.Characters(addr, elem, n)
	}
	if strings.Contains(o.Name, "__cxx11") {
		return nil
	}
	length := o.Wrap(addr - 3*o.PtrSize())
	n, err := o.Word(length)
	if err != nil {
		return &value.Shown{Err: err}
	}
	return o.Characters(addr, elem, int64(n))
}

// stringView writes a std::basic_string_view.
func stringView(o object) *value.Shown {
	addr, elem, ok := o.PointerTo("_M_str")
	n, ok2 := o.Number("_M_len")
	if !ok || !ok2 {
		return nil
	}
	return o.Characters(addr, elem, n)
}
