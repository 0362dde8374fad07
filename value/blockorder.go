package value

import "strings"

// hashed brings the variables of a block that is within a function's into the order in which GDB
// shows them: the order of its table, with a fifth as many buckets as names.
func hashed(list []Variable, language string) []Variable {
	if len(list) < 5 {
		return list
	}
	buckets := make([][]Variable, len(list)/5+1)
	for _, v := range list {
		h := foldName(v.Name)
		if language != "c++" {
			h = hashName(v.Name)
		}
		i := h % uint32(len(buckets))
		buckets[i] = append(buckets[i], v)
	}
	out := list[:0:0]
	for _, b := range buckets {
		out = append(out, b...)
	}
	return out
}

func nextHash(h uint32, c byte) uint32 {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return h*67 + uint32(c) - 113
}

// foldName is GDB's hash of a name in C++.
func foldName(name string) (h uint32) {
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	for i := range len(name) {
		if name[i] == '(' {
			break
		}
		h = nextHash(h, name[i])
	}
	return h
}

// hashName is GDB's hash of a name in other languages. It knows the names that Ada's compiler
// makes.
func hashName(name string) (h uint32) {
	all := func() (h uint32) {
		for i := range len(name) {
			if name[i] == '(' {
				break
			}
			if name[i] != ' ' {
				h = nextHash(h, name[i])
			}
		}
		return h
	}
	i := 0
	if strings.HasPrefix(name, "_ada_") {
		i = 5
	} else if strings.HasPrefix(name, "_") {
		return all()
	}
	for i < len(name) {
		switch c := name[i]; c {
		case '$', '.', 'X':
			if i == 0 {
				return all()
			}
			return h
		case ' ', '(':
			return all()
		case '_':
			if i > 0 && strings.HasPrefix(name[i+1:], "_") {
				next := byte(0)
				if i+2 < len(name) {
					next = name[i+2]
				}
				if (next < 'a' || next > 'z') && next != 'O' {
					return h
				}
				h = 0
				i += 2
				continue
			}
		case 'T':
			if name[i:] == "TKB" {
				return h
			}
		}
		h = nextHash(h, name[i])
		i++
	}
	return h
}
