package external

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// description checks a plug-in's description of itself.
func description(m *protocol.Description) (d plugin.Description, err error) {
	if !namePattern.MatchString(m.Name) {
		return d, fmt.Errorf("%w: it calls itself %q: want a-z, 0-9 and -, at most %d", ErrNonsense, clean(m.Name, 80), protocol.MaxName)
	}
	if slices.Contains(sniffer.AllNames(), m.Name) {
		return d, fmt.Errorf("%w: it calls itself %q, as a sniffer does that there is already", ErrNonsense, m.Name)
	}
	d = plugin.Description{Name: m.Name, Version: clean(m.Version, 64), Before: clean(m.Before, protocol.MaxName)}
	for _, a := range m.Architectures[:min(len(m.Architectures), 64)] {
		d.Architectures = append(d.Architectures, clean(a, protocol.MaxName))
	}
	if c := m.Claims; c != nil {
		if len(c.Modules) > protocol.MaxClaims {
			return d, fmt.Errorf("%w: it claims modules by %d patterns: at most %d", ErrNonsense, len(c.Modules), protocol.MaxClaims)
		}
		d.Claims = &plugin.Claims{OutsideModules: c.OutsideModules, Modules: c.Modules}
		for _, pattern := range c.Modules {
			if _, err := path.Match(pattern, ""); err != nil {
				return d, fmt.Errorf("%w: it claims modules %q: %w", ErrNonsense, clean(pattern, 80), err)
			}
		}
	}
	if d.Decorates, err = decorates(m.Decorates); err != nil {
		return d, err
	}
	n := m.GetNeeds()
	d.Needs = plugin.Needs{Stack: int(n.GetStack()), CodeBefore: int(n.GetCodeBefore()), CodeAfter: int(n.GetCodeAfter())}
	if n.GetStack() > protocol.MaxStack || n.GetCodeBefore() > protocol.MaxCode || n.GetCodeAfter() > protocol.MaxCode {
		return d, fmt.Errorf("%w: it needs %d bytes of stack, %d and %d of code: at most %d, %d and %d",
			ErrNonsense, n.GetStack(), n.GetCodeBefore(), n.GetCodeAfter(), protocol.MaxStack, protocol.MaxCode, protocol.MaxCode)
	}
	return d, nil
}

// decorates checks what a plug-in says of the stacks that it decorates; nil for none.
func decorates(m *protocol.Decorates) (*plugin.Decorates, error) {
	if m == nil {
		return nil, nil
	}
	d := &plugin.Decorates{Language: m.Language, Modules: m.Modules, Tasks: m.Tasks}
	switch {
	case !namePattern.MatchString(m.Language):
		return nil, fmt.Errorf("%w: it decorates the language %q: want a-z, 0-9 and -, at most %d", ErrNonsense, clean(m.Language, 80), protocol.MaxName)
	case len(m.Modules) == 0 || len(m.Modules) > protocol.MaxClaims:
		return nil, fmt.Errorf("%w: it decorates by %d patterns of files' names: want 1 to %d", ErrNonsense, len(m.Modules), protocol.MaxClaims)
	case len(m.Registers) > protocol.MaxRegisters:
		return nil, fmt.Errorf("%w: it wants %d registers of each frame: at most %d", ErrNonsense, len(m.Registers), protocol.MaxRegisters)
	}
	for _, pattern := range m.Modules {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%w: it decorates modules %q: %w", ErrNonsense, clean(pattern, 80), err)
		}
	}
	for _, r := range m.Registers {
		if r >= arch.MaxReg {
			return nil, fmt.Errorf("%w: it wants register %d of each frame: there are fewer than %d", ErrNonsense, r, arch.MaxReg)
		}
		d.Registers = append(d.Registers, trad.Reg(r))
	}
	return d, nil
}

// clean makes text fit to be shown: one line of printable characters, from the first longest bytes
// of text.
func clean(text string, longest int) string {
	if len(text) > longest {
		for longest > 0 && !utf8.RuneStart(text[longest]) {
			longest--
		}
		text = strings.Clone(text[:longest]) // the rest can be freed
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
