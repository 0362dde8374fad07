package jitname

import "testing"

// These names come from V8 of Node.js 18 and 20, from Python 3.12, and others.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name, function, file string
		line                 int
	}{
		{"JS:~inner /tmp/x.js:3:15", "JS:~inner", "/tmp/x.js", 3},
		{"JS:*opt file:///srv/a b/x.mjs:120:1", "JS:*opt", "file:///srv/a b/x.mjs", 120},
		{"JS:*'middle /tmp/x.js:25:16", "JS:*'middle", "/tmp/x.js", 25},
		{"JS:*' /tmp/x.js:25:16", "JS:*'<anonymous>", "/tmp/x.js", 25},
		{"JS:^get size /srv/my app/x.js:7:2", "JS:^get size", "/srv/my app/x.js", 7},
		{"JS:+m node:internal/timers:524:25", "JS:+m", "node:internal/timers", 524},
		{"JS:inner /tmp/x.js:3:15", "JS:inner", "/tmp/x.js", 3},
		{"JS:~ node:internal/main/run_main_module:1:1", "JS:~<anonymous>", "node:internal/main/run_main_module", 1},
		{"LazyCompile:~outer /tmp/x.js:10", "LazyCompile:~outer", "/tmp/x.js", 10},
		{"LazyCompile:~outer /tmp/x.js:10:15", "LazyCompile:~outer", "/tmp/x.js", 10},
		{"Function:~<instance_members_initializer> node:internal/per_context/primordials:612", "Function:~<instance_members_initializer>", "node:internal/per_context/primordials", 612},
		{"Script:~ evalmachine.<anonymous>:1:1", "Script:~<anonymous>", "evalmachine.<anonymous>", 1},
		{"Eval:~ [eval]:1:1", "Eval:~<anonymous>", "[eval]", 1},
		{"JS:~f x.js:4:1", "JS:~f", "x.js", 4},
		{"JS:*wasm", "JS:*wasm", "", 0},
		{"Builtin:JSEntry", "Builtin:JSEntry", "", 0},
		{"BytecodeHandler:Star0", "BytecodeHandler:Star0", "", 0},
		{"RegExp:^(\\d+) /:1:2$", "RegExp:^(\\d+) /:1:2$", "", 0},
		{"py::outer:/srv/x.py", "py::outer", "/srv/x.py", 0},
		{"py::C.method.<locals>.<lambda>:<string>", "py::C.method.<locals>.<lambda>", "<string>", 0},
		{"int32 [App] Foo::Bar(int32)[Tier0]", "int32 [App] Foo::Bar(int32)[Tier0]", "", 0},
		{"Ljava/lang/String;::hashCode", "Ljava/lang/String;::hashCode", "", 0},
	} {
		s := Split(tt.name)
		if s.Function != tt.function || s.File != tt.file || s.Line != tt.line {
			t.Errorf("%q is %q at %q:%d, want %q at %q:%d", tt.name, s.Function, s.File, s.Line, tt.function, tt.file, tt.line)
		}
	}
}

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"JS:~f": "JS:~f", "\x1b[2J": "\uFFFD[2J", "\xff\xfe": "\uFFFD\uFFFD", " ": "", "größe": "größe", "a\u202eb": "a\uFFFDb",
	} {
		if got := Readable(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
