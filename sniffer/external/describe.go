package external

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
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
	n := m.GetNeeds()
	d.Needs = plugin.Needs{Stack: int(n.GetStack()), CodeBefore: int(n.GetCodeBefore()), CodeAfter: int(n.GetCodeAfter())}
	if n.GetStack() > protocol.MaxStack || n.GetCodeBefore() > protocol.MaxCode || n.GetCodeAfter() > protocol.MaxCode {
		return d, fmt.Errorf("%w: it needs %d bytes of stack, %d and %d of code: at most %d, %d and %d",
			ErrNonsense, n.GetStack(), n.GetCodeBefore(), n.GetCodeAfter(), protocol.MaxStack, protocol.MaxCode, protocol.MaxCode)
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
