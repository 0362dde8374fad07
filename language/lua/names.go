package lua

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// mostName bounds the names of modules and their functions, bytes: longer ones are cut.
const mostName = 200

// text returns a string of Lua's, at most [structs.MostText] bytes of it.
func (m reader) text(at uint64) string { return m.begin(at, structs.MostText) }

// begin returns the first bytes of a string of Lua's, at most most.
func (m reader) begin(at, most uint64) string {
	n, text := m.Pointer(at+m.StringLength), at+m.StringText
	if m.StringShort != absent {
		const long = 1 << 4 // in the tag of a string
		if m.Uint(at+m.ObjectType, 1)&long == 0 {
			n = m.Uint(at+m.StringShort, 1)
		} else if m.StringPointer != absent {
			text = m.Pointer(at + m.StringPointer)
		}
	}
	return m.Text(text, min(n, most))
}

// source returns where a function of Lua is: its file, and the line where it begins. A chunk
// that is no file is called as Lua calls it, by its first line.
func (r *runtime) source(m reader, proto uint64) (file string, line int) {
	source := m.text(m.Pointer(proto + m.ProtoSource))
	line = int(m.Int(proto+m.ProtoLine, 4))
	if m.Err() != nil || line < 0 {
		return "", 0
	}
	if file, ok := strings.CutPrefix(source, "@"); ok {
		return file, line
	}
	if name, ok := strings.CutPrefix(source, "="); ok {
		return name, line
	}
	const longest = 40 // as in Lua's own traces, without what is around it
	first, _, more := strings.Cut(source, "\n")
	if len(first) > longest {
		first, more = first[:longest], true
	}
	if more {
		first += "..."
	}
	return `[string "` + first + `"]`, line
}

// globals are the names of functions in the tables of loaded modules, by the addresses of their
// closures, or of functions of C without upvalues.
type globals map[uint64]string

// Where Redis has the parts of its tables, which may be read-only: from 7.0 on.
const (
	redisLogSize = 16
	redisNodes   = 40
)

const (
	mostModules = 1 << 10
	mostNodes   = 1 << 16 // of all tables together
)

// globalsOf reads the names that debug.traceback looks for, in its order: package.loaded, and the
// tables in it.
func (r *runtime) globalsOf(m reader, global uint64) globals {
	g := globals{}
	left := mostNodes
	loaded := r.loaded(m, global, &left)
	if loaded == 0 && m.Version == 501 { // Redis has made its tables larger
		redis := *m.layout
		redis.TableLogSize, redis.TableNodes = redisLogSize, redisNodes
		m.layout = &redis
		loaded = r.loaded(m, global, &left)
	}
	if loaded == 0 {
		return g
	}
	add := func(name string, tag, value uint64) {
		if tag&typeMask == m.TypeFunction && g[value] == "" {
			g[value] = strings.TrimPrefix(name, "_G.")
		}
	}
	modules := mostModules
	r.eachNode(m, loaded, &left, func(module string, tag, value uint64) {
		add(module, tag, value)
		if modules--; tag&typeMask == m.TypeTable && modules >= 0 {
			r.eachNode(m, value, &left, func(key string, tag, value uint64) { add(module+"."+key, tag, value) })
		}
	})
	return g
}

// loaded returns package.loaded; 0 if it was not found.
func (r *runtime) loaded(m reader, global uint64, left *int) (loaded uint64) {
	r.eachNode(m, m.Pointer(global+m.GlobalRegistry), left, func(key string, tag, value uint64) {
		if key == "_LOADED" && tag&typeMask == m.TypeTable {
			loaded = value
		}
	})
	return loaded
}

// eachNode calls do for each node of a table whose key is a string and that has a value, in the
// order in which Lua's next has them. left says how many nodes may be looked at.
func (r *runtime) eachNode(m reader, table uint64, left *int, do func(key string, tag, value uint64)) {
	log, nodes := m.Uint(table+m.TableLogSize, 1), m.Pointer(table+m.TableNodes)
	if m.Err() != nil || log > 30 {
		return
	}
	for i := range uint64(1) << log {
		if *left--; *left < 0 {
			return
		}
		at := nodes + i*m.Node
		keyTag := m.Uint(at+m.NodeKeyType, 1) & tagMask
		tag := m.Uint(at+m.NodeValue+m.ValueType, 1) & tagMask
		if keyTag&typeMask == m.TypeString && tag&typeMask != 0 && m.OK() {
			key := m.begin(m.Pointer(at+m.NodeKey), mostName)
			value := m.Pointer(at + m.NodeValue)
			if m.OK() {
				do(key, tag, value)
			}
		}
		if m.Err() != nil {
			return
		}
	}
}

// nameless begins the name of a function of C that has none in Lua.
const nameless = "C function "

// nameOf returns the name of a function, as debug.traceback of 5.3 and 5.4 looks for it: the one in
// a table of package.loaded, or what its caller calls it (called), or where it begins.
func (r *runtime) nameOf(c *call, g globals, called, file string, line int) string {
	value := c.closure
	if value == 0 {
		value = c.c
	}
	switch {
	case g[value] != "":
		return g[value]
	case called != "":
		return called
	case c.c != 0:
		return fmt.Sprintf(nameless+"%#x", c.c)
	case line == 0:
		return "main chunk"
	}
	return fmt.Sprintf("function <%s:%d>", file, line)
}
