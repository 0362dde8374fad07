package rust

import (
	"bytes"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// personality is a function of Rust's library that each library of Rust has. A program may have no
// symbols.
var personality = elf.Seldom("rust_eh_personality")

// variable is the environment variable by which Rust's library is asked for stacks: its name is in
// each program that has the library.
const variable = "RUST_BACKTRACE"

// mayBeRust reports whether a module may be of Rust, by its own file: debug information may have to
// be fetched.
func mayBeRust(m *target.Module, im *elf.Image) bool {
	if !m.IsProgram() {
		return im.MayHaveSymbol(personality)
	}
	data, _, err := im.Pages(".rodata")
	if err != nil {
		return false
	}
	const step = 1 << 16
	room := make([]byte, step)
	for at := 0; at < data.Len(); at += step - len(variable) {
		part, err := data.Window(at, room)
		if bytes.Contains(part, []byte(variable)) {
			return true
		}
		if err != nil || len(part) != step { // that was all
			break
		}
	}
	return false
}
