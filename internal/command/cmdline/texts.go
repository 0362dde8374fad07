package cmdline

import (
	"encoding/csv"
	"strings"

	"github.com/spf13/pflag"
)

// texts is the value of a flag that may be given several times. pflag's own writes its default as
// CSV when the flag is made, by way of a buffer of 4 KiB; commands have ten such flags.
type texts struct {
	all    *[]string
	commas bool // one argument may have several texts, as a line of CSV
}

// Texts defines a flag that may be given several times; each argument is one text.
func Texts(f *pflag.FlagSet, all *[]string, name, usage string) {
	f.Var(&texts{all: all}, name, usage)
}

// TextsP is Texts for a flag that has a letter, too.
func TextsP(f *pflag.FlagSet, all *[]string, name, letter, usage string) {
	f.VarP(&texts{all: all}, name, letter, usage)
}

// List defines a flag whose argument is a list, separated by commas. It may be given several
// times.
func List(f *pflag.FlagSet, all *[]string, name, usage string) {
	f.Var(&texts{all: all, commas: true}, name, usage)
}

// Set implements pflag.Value.
func (t *texts) Set(text string) error {
	if !t.commas {
		*t.all = append(*t.all, text)
		return nil
	}
	if text == "" {
		return nil
	}
	list, err := csv.NewReader(strings.NewReader(text)).Read()
	if err == nil {
		*t.all = append(*t.all, list...)
	}
	return err
}

// Type implements pflag.Value: the usage shows it where the flag's text names no argument.
func (t *texts) Type() string {
	if t.commas {
		return "strings"
	}
	return "stringArray"
}

// String implements pflag.Value. Nothing shows it: there are no defaults.
func (t *texts) String() string { return "" }
