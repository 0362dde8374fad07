package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// warned returns the warnings of the target, of its files, and of the flags.
func (w *walk) warned() []string {
	symbols, flags := w.symbols, w.flags
	warnings := w.Warnings()
	modules := w.Modules()
	ofTarget := slices.Sorted(slices.Values(warnings))
	var short LeftOut
	for _, m := range append(slices.Clip(modules.All()), modules.Registered().Objects...) {
		if !m.ImageUsed() {
			continue // no frame is in it
		}
		flags.log.module(m, symbols)
		_, _, err := m.Image()
		if err != nil && anyBegins(ofTarget, m.Path+": ") {
			continue // the target has warned of it
		}
		for _, of := range symbols.Warnings(m) {
			if m.Identity != nil && err != nil && errors.Is(of, err) {
				continue // that a crash report lacks a file is no surprise, and its list of modules says so
			}
			if !short.Add(m.Path, of) {
				warnings = append(warnings, of.Error())
			}
		}
	}
	warnings = append(warnings, short.Warnings(flags.Explain)...)
	if w.values.Spent() {
		warnings = append(warnings, "the values of all variables would take too long: \"...\" stands for the others. Choose some by --frame, --tid or --print, or print less of each by --print-elements")
	}
	warnings = append(warnings, w.jit.warnings()...)
	warnings = append(warnings, w.languages.warnings()...)
	warnings = append(warnings, flags.Debug.Failed...)
	warnings = append(warnings, flags.Warned()...)
	warnings = append(warnings, flags.View.files.warnings()...)
	warnings = FittingWarnings(warnings, MaxWarned)
	for _, text := range warnings {
		flags.log.add("warning", "text", text)
	}
	return warnings
}

// anyBegins reports whether any text of an ascending list begins so.
func anyBegins(list []string, begin string) bool {
	i, _ := slices.BinarySearch(list, begin)
	return i < len(list) && strings.HasPrefix(list[i], begin)
}

// MaxWarned bounds the text of all warnings of a target, bytes: they have its names, of which
// thousands of modules may share a long one.
const MaxWarned = 8 << 20

// FittingWarnings returns the first warnings, up to that many bytes, and says how many others there
// are.
func FittingWarnings(warnings []string, most int) []string {
	for i, text := range warnings {
		if most -= len(text); most < 0 {
			return append(warnings[:i:i], fmt.Sprintf("further warnings are left out, for their text is too long: %d", len(warnings)-i))
		}
	}
	return warnings
}
