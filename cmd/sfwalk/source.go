package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// source is a target, and what a document says about it beside its stacks.
type source struct {
	target.Target
	root     string                       // folder below which its debug files are looked for first; "" for none
	about    func(*document)              // fills in what is known of the whole
	mark     func(target.Thread, *thread) // adds what is known of one thread; nil if there is nothing
	warnings func() []string              // what the user should know by now
}

// show walks a target and prints it.
func show(cmd *cobra.Command, s *source, flags *walkFlags) error {
	doc, warnings, err := collect(s, flags)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintf(cmd.ErrOrStderr(), "sfwalk: warning: %s\n", w)
	}
	return doc.print(cmd.OutOrStdout(), flags)
}

// collect makes the document of a target.
func collect(s *source, flags *walkFlags) (doc *document, warnings []string, err error) {
	symbols := symbol.New(symbol.Options{Root: func(*target.Module) string { return s.root }})
	defer symbols.Close()
	if doc, err = walk(s, symbols, flags); err != nil {
		return nil, nil, err
	}
	s.about(doc)
	warnings = s.warnings()
	for _, m := range s.Modules().All() {
		for _, err := range symbols.Warnings(m) {
			warnings = append(warnings, err.Error())
		}
	}
	return doc, append(warnings, flags.warnings()...), nil
}
