package symbol

import "strings"

// adaOperators are the functions of Ada whose names are operators, by the names that GNAT gives
// them (its source has them in exp_dbug.ads).
var adaOperators = map[string]string{
	"Oabs": `"abs"`, "Oand": `"and"`, "Omod": `"mod"`, "Onot": `"not"`, "Oor": `"or"`, "Orem": `"rem"`, "Oxor": `"xor"`, "Oeq": `"="`, "One": `"/="`,
	"Olt": `"<"`, "Ole": `"<="`, "Ogt": `">"`, "Oge": `">="`, "Oadd": `"+"`, "Osubtract": `"-"`, "Oconcat": `"&"`, "Omultiply": `"*"`,
	"Odivide": `"/"`, "Oexpon": `"**"`,
}

// adaName returns the name of a function as Ada's users know it, from the one that GNAT has encoded
// it in: "pkg__proc__2" is pkg.proc. As GDB, it puts names that are not encoded so into angle
// brackets.
func adaName(encoded string) string {
	name := strings.TrimPrefix(encoded, "_ada_")
	switch {
	case name == "" || name[0] == '<':
		return encoded
	case name[0] == '_':
		return "<" + encoded + ">"
	}
	name = withoutAdaNumber(name)
	if n := len(name); n > 1 && name[n-1] == 'N' && isLowerOrDigit(name[n-2]) { // of a protected object
		name = name[:n-1]
	}
	if i := strings.Index(name, "___"); i >= 0 && i < len(name)-3 {
		if name[i+3] != 'X' {
			return "<" + encoded + ">"
		}
		name = name[:i]
	}
	for _, suffix := range [...]string{"TKB", "TB", "B"} { // bodies of tasks, and of others
		if rest, ok := strings.CutSuffix(name, suffix); ok && rest != "" {
			name = rest
			break
		}
	}
	name = withoutAdaNumber(name)
	parts := strings.Split(strings.ReplaceAll(name, "TK__", "__"), "__")
	kept := parts[:0]
	for i, part := range parts {
		if i > 0 && i < len(parts)-1 && len(part) > 1 && part[0] == 'B' && strings.Trim(part[1:], "0123456789") == "" { // a block
			continue
		}
		if base := strings.TrimRight(part, "bn"); i == len(parts)-1 && strings.HasSuffix(base, "X") && len(base) > 1 { // within packages that are bodies or nested
			part = base[:len(base)-1]
		}
		if op := adaOperators[part]; op != "" && i > 0 {
			part = op
		} else if part == "" || strings.ToLower(part) != part {
			return "<" + encoded + ">"
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ".")
}

func isLowerOrDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// withoutAdaNumber returns a name without the number that tells it from others of the same name:
// "__2", "___2", ".2", "$2".
func withoutAdaNumber(name string) string {
	rest := strings.TrimRight(name, "0123456789")
	if rest == name {
		return name
	}
	for _, before := range [...]string{"___", "__", ".", "$"} {
		if cut, ok := strings.CutSuffix(rest, before); ok && cut != "" {
			return cut
		}
	}
	return name
}
