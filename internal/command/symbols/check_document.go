package symbols

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

// symbolsCheckDocument is what `sfwalk symbols check --json` prints; docs/json.md describes it.
// Fields are added, never renamed.
type symbolsCheckDocument struct {
	File   string `json:"file"`
	Module struct {
		OS   string `json:"os"`
		Arch string `json:"arch"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"module"`
	Fine     bool               `json:"fine"`
	Problems []symbolProblem    `json:"problems"`
	Dropped  int                `json:"dropped"`
	Lines    int                `json:"lines"`
	Records  symbolRecords      `json:"records"`
	Compared *symbolsComparison `json:"compared,omitempty"`
}

type symbolProblem struct {
	Line int    `json:"line"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type symbolRecords struct {
	Funcs      int `json:"funcs"`
	FuncLines  int `json:"func_lines"`
	Inlines    int `json:"inlines"`
	Publics    int `json:"publics"`
	CFI        int `json:"cfi"`
	CFIChanges int `json:"cfi_changes"`
	Win        int `json:"win"`
}

type symbolsComparison struct {
	Binary        string               `json:"binary"`
	Agree         bool                 `json:"agree"`
	Disagreements []symbolDisagreement `json:"disagreements"`
	Dropped       int                  `json:"dropped"`
	Problems      []string             `json:"problems"`
	Bytes         struct {
		Compared  uint64 `json:"compared"`
		Missing   uint64 `json:"missing"`
		Outermost uint64 `json:"outermost"`
	} `json:"bytes"`
}

type symbolDisagreement struct {
	Lo       string   `json:"lo"`
	Hi       string   `json:"hi"`
	Function string   `json:"function"`
	Offset   uint64   `json:"offset"`
	Differs  []string `json:"differs"`
	File     string   `json:"file"`
	Binary   string   `json:"binary"`
}

func newSymbolsCheckDocument(file string, c *breakpad.Checked, x *comparedSymbols) *symbolsCheckDocument {
	d := &symbolsCheckDocument{File: file, Fine: len(c.Problems)+c.Dropped == 0, Problems: []symbolProblem{}, Dropped: c.Dropped, Lines: c.Lines}
	d.Module.OS, d.Module.Arch, d.Module.ID, d.Module.Name = c.Module.OS, c.Module.Arch, c.Module.ID, c.Module.Name
	d.Records = symbolRecords{c.Funcs, c.FuncLines, c.Inlines, c.Publics, c.CFI, c.CFIChanges, c.Win}
	for _, p := range c.Problems {
		d.Problems = append(d.Problems, symbolProblem{p.Line, p.Kind, p.Text})
	}
	if x == nil {
		return d
	}
	y := &symbolsComparison{Binary: x.binary, Agree: len(x.Disagreements)+x.Dropped == 0, Disagreements: []symbolDisagreement{}, Dropped: x.Dropped, Problems: []string{}}
	y.Bytes.Compared, y.Bytes.Missing, y.Bytes.Outermost = x.Compared, x.Missing, x.Outermost
	for i := range x.Disagreements {
		one := &x.Disagreements[i]
		function, offset := x.place(one)
		y.Disagreements = append(y.Disagreements, symbolDisagreement{
			Lo: fmt.Sprintf("%#x", one.Lo), Hi: fmt.Sprintf("%#x", one.Hi), Function: function, Offset: offset,
			Differs: one.Registers, File: one.File, Binary: one.Binary,
		})
	}
	for _, err := range x.Problems {
		y.Problems = append(y.Problems, err.Error())
	}
	d.Compared = y
	return d
}
