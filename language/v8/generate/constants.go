package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const constantBegin = "v8dbg_"

var quoted = regexp.MustCompile(`"(\w+)"`)

// constants returns what a file tells debuggers of V8's objects, a name and a number a line, as far
// as the sources mention it.
func constants(node string, sources []string) (string, error) {
	used := map[string]bool{}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			used[m[1]], used["type_"+m[1]] = true, true
		}
	}
	f, err := elf.Open(node)
	if err != nil {
		return "", err
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return "", err
	}
	var lines []string
	for _, s := range symbols {
		name, is := strings.CutPrefix(s.Name, constantBegin)
		if !is || !used[name] {
			continue
		}
		n, err := loadedWord(f, s.Value)
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%s %d\n", name, n))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), ""), nil
}

// loadedWord reads a number as a process begins with it.
func loadedWord(f *elf.File, addr uint64) (int32, error) {
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || addr-p.Vaddr >= p.Memsz {
			continue
		}
		if addr-p.Vaddr >= p.Filesz {
			return 0, nil
		}
		var b [4]byte
		_, err := p.ReadAt(b[:], int64(addr-p.Vaddr))
		return int32(binary.LittleEndian.Uint32(b[:])), err
	}
	return 0, fmt.Errorf("nothing is loaded at %#x", addr)
}
