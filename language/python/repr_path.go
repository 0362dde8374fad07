package python

import "strings"

// path writes a path of the module pathlib. It keeps its text only once somebody has asked for it.
func (w *writer) path(object uint64, c *class) error {
	var text string
	var done bool
	var root, drive string
	var parts, raw, tail []string
	err := w.eachAttribute(object, func(key, value uint64) bool {
		switch name, _ := w.memory.text(key, maxName); name {
		case "_str":
			if of, err := w.memory.text(value, mostText); err == nil {
				text, done = of, true
			}
		case "_root":
			root, _ = w.memory.text(value, maxName)
		case "_drv":
			drive, _ = w.memory.text(value, maxName)
		case "_parts":
			parts = w.textsOf(value)
		case "_tail_cached":
			tail = w.textsOf(value)
		case "_raw_paths":
			raw = w.textsOf(value)
		}
		return !done
	})
	switch {
	case err != nil:
		return err
	case done:
	case parts != nil: // up to 3.11: the first is the root, if there is one
		if root != "" && len(parts) > 0 {
			parts = parts[1:]
		}
		text = drive + root + strings.Join(parts, "/")
	case tail != nil:
		text = drive + root + strings.Join(tail, "/")
	case raw != nil:
		text = joined(raw)
	default:
		return errOther
	}
	if text == "" {
		text = "."
	}
	more := ""
	if len(text) > mostValue {
		text, more = strings.ToValidUTF8(text[:mostValue], ""), "..."
	}
	w.write(short(c.qualified) + "(" + quoted(text) + more + ")")
	return nil
}

// textsOf returns the strings of a list or a tuple, never nil.
func (o *objects) textsOf(object uint64) []string { return append([]string{}, o.texts(object)...) }

// joined joins parts as a path of POSIX.
func joined(raw []string) string {
	text := ""
	for _, part := range raw {
		if text == "" || strings.HasPrefix(part, "/") {
			text = part
		} else {
			text += "/" + part
		}
	}
	root := ""
	if strings.HasPrefix(text, "/") {
		root = "/"
		if strings.HasPrefix(text, "//") && !strings.HasPrefix(text, "///") {
			root = "//" // POSIX gives it a meaning of its own
		}
	}
	var list []string
	for part := range strings.SplitSeq(text, "/") {
		if part != "" && part != "." {
			list = append(list, part)
		}
	}
	return root + strings.Join(list, "/")
}
