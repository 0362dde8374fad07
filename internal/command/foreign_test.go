package command

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// Each flag of another tool's that is unknown here leads to flags that there are, of a verb that
// the row is for, or that its text names.
func TestForeigners(t *testing.T) {
	root := Commands()
	for _, f := range exit.Foreigners {
		for _, verb := range f.Verbs {
			cmd, _, err := root.Find([]string{verb})
			if err != nil || cmd == root {
				t.Errorf("there is no verb %s", verb)
				continue
			}
			for _, name := range f.Names {
				if cmd.Flags().Lookup(name) != nil || len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil {
					t.Errorf("%s has %s: the row %q is never used", verb, name, f.Text)
				}
			}
		}
		of := append(slices.Clone(f.Verbs), regexp.MustCompile(`\b(attach|core|record)\b`).FindAllString(f.Text, -1)...)
		if len(f.Verbs) == 0 {
			of = append(of, "attach")
		}
		for _, m := range regexp.MustCompile(`(?:^|[ (])(--?)([a-zA-Z][a-z-]*)`).FindAllStringSubmatch(f.Text, -1) {
			if !slices.ContainsFunc(of, func(verb string) bool {
				cmd, _, _ := root.Find([]string{verb})
				if m[1] == "-" {
					return cmd.Flags().ShorthandLookup(m[2][:1]) != nil
				}
				return cmd.Flags().Lookup(m[2]) != nil
			}) {
				t.Errorf("%q: no verb of %v has %s%s", f.Text, of, m[1], m[2])
			}
		}
	}
	for _, tt := range []struct{ line, want string }{
		{"attach 1 -batch", "unknown shorthand flag: 'b' in -batch: sfwalk has no commands of gdb's"},
		{"attach 1 -ex bt", "sfwalk has no commands of gdb's"},
		{"attach --core x", "unknown flag: --core: 'sfwalk core FILE' reads core files"},
		{"core --core x", "unknown flag: --core: the file is the argument"},
		{"core --exec x", "unknown flag: --exec: do you mean --exe?"},
		{"attach -d 10 1", "'sfwalk record PID -d 10"},
		{"record -g 1", "stacks are recorded unasked"},
		{"record --call-graph dwarf 1", "stacks are recorded unasked"},
		{"record 1 -- sleep 10", "-d 10"},
		{"attach --native 1", "native frames are there unasked"},
		{"perf -i a b", `"b" is one argument too many`},
	} {
		_, _, err := command(strings.Fields(tt.line)...)
		if usage := (exit.Usage{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("sfwalk %s: %v, want %q", tt.line, err, tt.want)
		}
	}
}

// Letters that eu-stack, perf and py-spy have for flags mean the same here.
func TestLetters(t *testing.T) {
	root := Commands()
	for _, tt := range []struct{ verbs, letter, name string }{
		{"attach core open minidump remote", "n", "max-frames"},
		{"core open minidump remote", "e", "exe"},
		{"record top perf", "e", "event"},
		{"record top", "F", "frequency"},
		{"record top", "a", "system"},
		{"record", "d", "duration"},
		{"record perf", "f", "format"},
		{"perf", "i", "input"},
		{"attach record top call", "p", "pid"},
		{"attach core open minidump remote record perf", "o", "output"},
	} {
		for verb := range strings.FieldsSeq(tt.verbs) {
			cmd, _, _ := root.Find([]string{verb})
			if f := cmd.Flags().ShorthandLookup(tt.letter); f == nil || f.Name != tt.name {
				t.Errorf("%s -%s is not --%s", verb, tt.letter, tt.name)
			}
		}
	}
}
