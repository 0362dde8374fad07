package short

// hash is the disambiguator of a crate, as demanglers print it: core[8f3b1c0a5d2e4f67].
var hash = matching(`^[0-9a-f]{8,16}$`)

// rustPaths leaves out of a name of Rust what tells little: hashes of crates, allocators and
// hashers that nobody has chosen, and of types of the standard library, all but their own names.
// depth is how deep the list lies in others: the path of the function itself stays.
func rustPaths(list []token, depth int) []token {
	made := make([]token, 0, len(list))
	path := 0 // where the path begins that the next token belongs to
	for i := range list {
		t := list[i]
		if t.open == '[' && len(t.items) == 1 && len(t.items[0]) == 1 && hash().MatchString(t.items[0][0].text) && len(made) > 0 && made[len(made)-1].isWord() {
			continue
		}
		if t.open != 0 {
			items := make([][]token, 0, len(t.items))
			for _, item := range t.items {
				items = append(items, rustPaths(item, depth+1))
			}
			for t.open == '<' && len(items) > 1 && usualRust(items[len(items)-1]) {
				items = items[:len(items)-1]
			}
			t.items = items
		}
		if joined := t.text == "::" || len(made) > path && (made[len(made)-1].text == "::" || t.open != 0); !joined {
			if depth > 0 {
				made = lastName(made, path)
			}
			if path = len(made); !t.isWord() && t.open == 0 {
				path++
			}
		}
		made = append(made, t)
	}
	if depth > 0 {
		made = lastName(made, min(path, len(made)))
	}
	return made
}

// lastName leaves the name of a type of the standard library at the end of a list, without the
// modules before it. The path begins at from.
func lastName(list []token, from int) []token {
	if from >= len(list) {
		return list
	}
	switch list[from].text {
	case "core", "alloc", "std":
	default:
		return list
	}
	last := from
	for i := from; i+1 < len(list); i++ {
		if list[i].text == "::" && list[i+1].isWord() {
			last = i + 1
		}
	}
	return append(list[:from], list[last:]...)
}

// usualRust reports whether a type is the allocator or the hasher that a program gets if it names
// none.
func usualRust(item []token) bool {
	return len(item) == 1 && (item[0].text == "Global" || item[0].text == "RandomState")
}
