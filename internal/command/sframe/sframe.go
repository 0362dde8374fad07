package sframe

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// New makes the verb sframe.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sframe",
		Short: "Look at, check and make SFrame sections",
		Long: `sframe works on the SFrame stack trace information of ELF files, versions 1 to 3,
for amd64, AArch64 and s390x: it dumps SFrame, compares it with the DWARF call frame
information of the same file, and makes it from DWARF.`,
		Example: `  sfwalk sframe dump FILE
  sfwalk sframe verify FILE
  sfwalk sframe gen /bin/ls -o ls.sframe`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Misuse(errors.New("sframe: which command? dump, verify or gen"))
		},
	}
	cmd.AddCommand(newSFrameDump(), newSFrameVerify(), newSFrameGen())
	return cmd
}

// openELF opens an ELF file whose section headers can be read.
func openELF(name string) (*elfimage.Image, io.Closer, error) {
	im, file, err := elfimage.OpenFile(name)
	if err != nil {
		return nil, nil, exit.WithoutName(err)
	}
	if err := im.SectionsError(); err != nil {
		file.Close()
		return nil, nil, exit.WithoutName(err)
	}
	return im, file, nil
}
