// Command notice writes NOTICE: the modules that sfwalk's programs are linked from, with their
// licences.
//
//	cd tools && go run ./notice -o ../NOTICE
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/sfwalk/sfwalk/tools/internal/licenses"
	"github.com/sfwalk/sfwalk/tools/internal/platforms"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("notice: ")
	dir := flag.String("C", "..", "the folder of sfwalk's sources")
	output := flag.String("o", "", "the file to write; standard output, if none is named")
	flag.Parse()
	modules, err := licenses.Linked(context.Background(), *dir, platforms.All(), "./cmd/...")
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	write(&text, modules)
	if *output == "" {
		_, err = os.Stdout.Write(text.Bytes())
	} else {
		err = os.WriteFile(*output, text.Bytes(), 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const beginning = `sfwalk
Copyright (c) 2026, the sfwalk authors

sfwalk has the BSD-3-Clause license, which is in the file LICENSE. Its programs (sfwalk, sfwalk-full,
sniffer-perfmap) are linked from the modules of others below, unchanged. Their licences follow. The
source of each module, at the version that is linked, is at

    https://proxy.golang.org/PATH/@v/VERSION.zip

(a capital letter in PATH is an exclamation mark and the small letter), and 'go mod download
PATH@VERSION' fetches it. That is where the source of the modules under the Mozilla Public License is.
"std" is Go's standard library and run time, of the release that 'go version sfwalk' prints; its source
is at https://go.dev/dl/.

A tool has written this file (tools/notice): a test holds it against what is linked.

`

const rule = "================================================================================"

// write writes the file: a table of the modules, and each text once.
func write(w io.Writer, modules []licenses.Module) {
	io.WriteString(w, beginning)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var order []string
	holders := map[string][]string{} // by text
	for _, m := range modules {
		fmt.Fprintf(table, "%s\t%s\t%s\n", m.Path, m.Version, m.SPDX)
		for _, t := range m.Texts {
			if holders[t.Text] == nil {
				order = append(order, t.Text)
			}
			holders[t.Text] = append(holders[t.Text], m.Path+": "+t.File)
		}
	}
	table.Flush()
	for _, text := range order {
		fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s", rule, strings.Join(holders[text], "\n"), rule, text)
	}
}
