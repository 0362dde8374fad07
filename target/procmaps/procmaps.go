// Package procmaps reads the text of /proc/PID/maps, of a process on this machine or as a remote
// stub sends it.
package procmaps

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
)

// Mapping is one line of /proc/PID/maps (proc_pid_maps(5)).
//
// This package does not use prometheus/procfs: that joins runs of spaces in a path into one, keeps
// the escape of a newline, splits at no-break spaces, and refuses offsets of 2^63 and more. It also
// opens the file by PID, which may belong to another process by then.
type Mapping struct {
	Lo, Hi, Offset    uint64
	Read, Write, Exec bool
	Major, Minor      uint32 // device
	Inode             uint64 // 0 if the mapping is of no file
	Path              string // "" for anonymous memory, "[stack]" and the like for the kernel's own names
	Deleted           bool   // the file is no longer at Path
	// Listed says that the mapping comes from a bare list of files, in which paths may be relative.
	Listed bool
}

// IsFile reports whether a file is mapped.
func (m *Mapping) IsFile() bool {
	return m.Inode != 0 && (strings.HasPrefix(m.Path, "/") || m.Listed && m.Path != "" && !isKernels(m.Path))
}

// isKernels reports whether the kernel made up the name, so that it is no file's: "[vdso]",
// "anon_inode:[perf_event]", "socket:[4711]".
func isKernels(name string) bool {
	before, _, brackets := strings.Cut(name, "[")
	return brackets && strings.HasSuffix(name, "]") && (before == "" || strings.HasSuffix(before, ":") && !strings.Contains(before, "/"))
}

// Parse reads the text of /proc/PID/maps. The mappings must ascend and not overlap. The error names
// the first bad line.
func Parse(text []byte) ([]Mapping, error) {
	p := parser{maps: make([]Mapping, 0, bytes.Count(text, []byte("\n"))+1)} // lines may be short or have paths of 4 KiB
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if err := p.add(line, true); err != nil {
			return nil, err
		}
	}
	return p.maps, nil
}

// parser makes mappings of lines.
type parser struct {
	maps []Mapping
	// path is the path of the line before, for most files have several lines in a row; plain has
	// its newlines.
	path, plain string
}

// add adds the mapping of a line. Without named, its path is not kept.
func (p *parser) add(line []byte, named bool) error {
	m, name, ok := parse(line)
	if !ok || m.Lo >= m.Hi || len(p.maps) > 0 && m.Lo < p.maps[len(p.maps)-1].Hi {
		return fmt.Errorf("read maps: line %d: %q is not an ascending LO-HI PERMS OFFSET DEV INODE [PATH]", len(p.maps)+1, line[:min(len(line), 200)])
	}
	if !named {
		name = nil
	}
	if string(name) != p.path {
		p.path = string(name)
		p.plain = strings.ReplaceAll(p.path, `\012`, "\n")
	}
	m.Path = p.path
	if m.Inode != 0 {
		m.Path, m.Deleted = strings.CutSuffix(p.plain, " (deleted)")
	}
	p.maps = append(p.maps, m)
	return nil
}

func parse(line []byte) (m Mapping, name []byte, ok bool) {
	var f [5][]byte
	for i := range f {
		if f[i], line, ok = bytes.Cut(line, []byte(" ")); !ok && i < len(f)-1 {
			return m, nil, false
		}
	}
	lo, hi, dash := bytes.Cut(f[0], []byte("-"))
	major, minor, colon := bytes.Cut(f[3], []byte(":"))
	var n [6]uint64
	for i, field := range [...][]byte{lo, hi, f[2], major, minor, f[4]} {
		base := uint64(16)
		if i == 5 {
			base = 10
		}
		if n[i], ok = number(field, base); !ok {
			return m, nil, false
		}
	}
	perms := f[1]
	if !dash || !colon || len(perms) != 4 || n[3] > 1<<32-1 || n[4] > 1<<32-1 {
		return m, nil, false
	}
	m = Mapping{
		Lo: n[0], Hi: n[1], Offset: n[2], Major: uint32(n[3]), Minor: uint32(n[4]), Inode: n[5],
		Read: perms[0] == 'r', Write: perms[1] == 'w', Exec: perms[2] == 'x',
	}
	return m, bytes.TrimLeft(line, " "), true
}

// number reads a number that has no sign, prefix or separators.
func number(s []byte, base uint64) (v uint64, ok bool) {
	for _, c := range s {
		d := base
		switch {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c >= 'a' && c <= 'f':
			d = uint64(c-'a') + 10
		}
		if d >= base || v > (^uint64(0)-d)/base {
			return 0, false
		}
		v = v*base + d
	}
	return v, len(s) > 0
}

// Text returns mappings as /proc/PID/maps has them: the text that [Parse] reads.
func Text(maps []Mapping) (text []byte) {
	letter := func(is bool, c byte) byte {
		if is {
			return c
		}
		return '-'
	}
	for i := range maps {
		m := &maps[i]
		perms := []byte{letter(m.Read, 'r'), letter(m.Write, 'w'), letter(m.Exec, 'x'), 'p'}
		line := fmt.Sprintf("%08x-%08x %s %08x %02x:%02x %d ", m.Lo, m.Hi, perms, m.Offset, m.Major, m.Minor, m.Inode)
		if m.Path != "" {
			line = fmt.Sprintf("%-73s%s", line, strings.ReplaceAll(m.Path, "\n", `\012`))
			if m.Deleted {
				line += " (deleted)"
			}
		}
		text = append(text, line+"\n"...)
	}
	return text
}

// Find returns the index of the mapping that holds addr, or else of the first one above it.
func Find(maps []Mapping, addr uint64) (i int, holds bool) {
	i = sort.Search(len(maps), func(i int) bool { return maps[i].Hi > addr })
	return i, i < len(maps) && maps[i].Lo <= addr
}
