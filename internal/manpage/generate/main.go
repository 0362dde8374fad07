// Command generate writes sfwalk's manual pages to a folder: 'make man'.
//
//	generate -version VERSION -date YYYY-MM-DD FOLDER
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/manpage"
)

func main() {
	version := flag.String("version", "devel", "the `version` on the pages")
	date := flag.String("date", "", "the `date` on the pages")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: generate -version VERSION -date YYYY-MM-DD FOLDER")
		os.Exit(2)
	}
	if err := generate(flag.Arg(0), manpage.Manual{Version: "sfwalk " + *version, Date: *date}); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes a page for each command.
func generate(folder string, m manpage.Manual) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, cmd := range manpage.All(command.Commands()) {
		file, err := os.Create(filepath.Join(folder, manpage.Name(cmd)+".1"))
		if err != nil {
			return err
		}
		err = m.Write(file, cmd)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	return nil
}
