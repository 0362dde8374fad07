package manpage

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/command/usage"
)

// A Manual is what its pages have in common.
type Manual struct {
	Version string // of the program, as its pages show it: "sfwalk 0.1.0"
	Date    string // of the release: "2026-11-26"
}

// All returns a command and all commands below it, each before its own, but for hidden and
// deprecated ones.
func All(cmd *cobra.Command) (list []*cobra.Command) {
	list = append(list, cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list = append(list, All(sub)...)
		}
	}
	return list
}

// Name returns the name of a command's page: "sfwalk-attach" for "sfwalk attach".
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Write writes the page of a command, for section 1 of the manual.
func (m Manual) Write(w io.Writer, cmd *cobra.Command) error {
	var b bytes.Buffer
	cmd.InitDefaultHelpFlag()
	name := Name(cmd)
	fmt.Fprintf(&b, ".TH %s 1 %s %s \"User Commands\"\n.ad l\n.nh\n", quote(strings.ToUpper(name)), quote(m.Date), quote(m.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name), escape(lower(cmd.Short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n\\fB%s\\fR%s\n.fi\n", escape(cmd.CommandPath()), escape(synopsis(cmd)))
	b.WriteString(".SH DESCRIPTION\n")
	text(&b, description(cmd))
	for i, g := range usage.Groups(cmd) {
		if i == 0 && len(g.Flags) > 0 {
			b.WriteString(".SH OPTIONS\n")
		}
		if g.Title != "" {
			fmt.Fprintf(&b, ".SS %s\n", quote(g.Title))
		}
		for _, f := range g.Flags {
			option(&b, f)
		}
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		block(&b, strings.Split(cmd.Example, "\n"))
	}
	b.WriteString(".SH SEE ALSO\n")
	var also []string
	if cmd.HasParent() {
		also = append(also, Name(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			also = append(also, Name(sub))
		}
	}
	for i, page := range also {
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", escape(page), comma)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// description returns the text of a command that its help shows.
func description(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// synopsis returns what follows the command's name in its usage line.
func synopsis(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return " COMMAND"
	}
	return strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
}

// option writes a flag.
func option(b *bytes.Buffer, f *pflag.Flag) {
	value, text := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", escape(f.Shorthand))
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", escape(f.Name))
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", escape(value))
	}
	b.WriteByte('\n')
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	line(b, text)
}

// text writes a text as the terminal shows it: paragraphs are filled, indented lines stay as they
// are.
func text(b *bytes.Buffer, s string) {
	var kept []string
	begin := true // of a paragraph
	for l := range strings.SplitSeq(s, "\n") {
		if strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t") {
			kept = append(kept, l)
			continue
		}
		block(b, kept)
		if len(kept) > 0 || strings.TrimSpace(l) == "" {
			begin = true
		}
		kept = nil
		title, isTitle := strings.CutPrefix(l, "#### ") // as cobra's own texts have them
		switch {
		case strings.TrimSpace(l) == "":
			continue
		case isTitle:
			fmt.Fprintf(b, ".SS %s\n", quote(title))
			begin = false
			continue
		case begin:
			b.WriteString(".PP\n")
			begin = false
		}
		line(b, l)
	}
	block(b, kept)
}

// block writes lines that are not filled.
func block(b *bytes.Buffer, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(".PP\n.nf\n.RS\n")
	for _, l := range lines {
		line(b, strings.TrimPrefix(strings.ReplaceAll(l, "\t", "  "), "  "))
	}
	b.WriteString(".RE\n.fi\n")
}

// line writes a line of text, which is no request although it may begin like one.
func line(b *bytes.Buffer, s string) {
	if s = escape(s); strings.HasPrefix(s, ".") || s == "" || strings.HasPrefix(s, " ") {
		s = `\&` + s
	}
	b.WriteString(s + "\n")
}

// escapes are of the characters that man(7) takes for others.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", `\&...`)

func escape(s string) string { return escapes.Replace(s) }

// quote makes one argument of a macro.
func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }

// lower begins a sentence as a page's one-line description does.
func lower(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
