package external

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sfwalk/sfwalk/internal/subprocess"
	"github.com/sfwalk/sfwalk/internal/trust"
)

// program is a plug-in's file. It is opened once: the file that is checked is the one that runs.
type program struct {
	*trust.File
	name string   // its absolute path, as the user named it
	copy *os.File // a copy that cannot change, of a file that others may write to; else nil
}

// open opens an executable file.
func open(name string) (*program, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	f, err := trust.Open(name)
	if err != nil {
		return nil, err
	}
	switch mode := f.Info.Mode(); {
	case !mode.IsRegular():
		err = fmt.Errorf("%w: not a regular file (%v)", ErrStart, mode.Type())
	case mode&0o111 == 0 && runtime.GOOS != "windows":
		err = fmt.Errorf("%w: not executable: chmod +x %s", ErrStart, name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &program{File: f, name: name}, nil
}

// Close lets go of the file.
func (p *program) Close() error {
	if p.copy != nil {
		p.copy.Close()
	}
	return p.File.Close()
}

// command returns the command that runs the program.
func (p *program) command(guarded bool) subprocess.Command {
	c := subprocess.Command{Path: p.name, Args: []string{p.name}, Dir: "/", File: p.copy}
	if guarded {
		// The path leads to the file that was checked: no other user can exchange a step of it. If
		// it ran by its descriptor, a script would not know where it lies, and the process would be
		// named "3".
		c.Path = p.Path
	}
	return c
}

// checksum compares the program with its pinned checksum, if there is one.
func (p *program) checksum(pinned string) error {
	if pinned == "" {
		return nil
	}
	want, err := hex.DecodeString(pinned)
	if err != nil || len(want) != sha256.Size {
		return fmt.Errorf("%w: %q is no SHA-256 checksum: want %d hexadecimal digits", ErrChecksum, pinned, 2*sha256.Size)
	}
	if p.Others != nil && p.copy == nil {
		// Its owner may write to the file after the checksum was compared.
		if p.copy, err = sealed(p.File); err != nil {
			return fmt.Errorf("%w: others may change the program, and it cannot be copied: %w", ErrChecksum, err)
		}
	}
	sum, err := p.sum()
	if err != nil {
		return errors.Join(ErrChecksum, err)
	}
	if sum != strings.ToLower(pinned) {
		return fmt.Errorf("%w: the program's is %s, want %s: if you trust the program, pin that", ErrChecksum, sum, pinned)
	}
	return nil
}

// sum returns the program's checksum in hexadecimal.
func (p *program) sum() (string, error) {
	hash := sha256.New()
	if p.copy != nil {
		st, err := p.copy.Stat()
		if err == nil {
			_, err = io.Copy(hash, io.NewSectionReader(p.copy, 0, st.Size()))
		}
		return hex.EncodeToString(hash.Sum(nil)), err
	}
	r, err := p.Reader()
	if err != nil {
		return "", err
	}
	defer r.Close()
	_, err = io.Copy(hash, r)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// guard returns an error if others than root and the user may change the program, or an interpreter
// that runs it.
func (p *program) guard() error { return guard(p.File, 0) }

func guard(f *trust.File, depth int) error {
	const deepest = 5 // scripts that run scripts; the kernel takes no more
	if f.Others != nil || depth > deepest {
		return distrusted(f.Others)
	}
	interpreter, argument, err := shebang(f)
	if err != nil || interpreter == "" {
		return err
	}
	if err := guardInterpreter(interpreter, depth); err != nil {
		return fmt.Errorf("its interpreter: %w", err)
	}
	if path.Base(interpreter) != "env" {
		return nil
	}
	for _, word := range strings.Fields(argument) {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if !filepath.IsAbs(word) {
			if word, err = look(word); err != nil {
				return err
			}
		}
		if err := guardInterpreter(word, depth); err != nil {
			return fmt.Errorf("its interpreter: %w", err)
		}
		return nil
	}
	return nil
}

func guardInterpreter(name string, depth int) error {
	if !filepath.IsAbs(name) {
		name = "/" + name // plug-ins are run there
	}
	f, err := trust.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return guard(f, depth+1)
}

// look finds a program as env(1) does, by the same PATH.
func look(name string) (string, error) {
	for _, dir := range filepath.SplitList(trust.SearchPath(os.Getenv("PATH"))) {
		at := filepath.Join(dir, name)
		if st, err := os.Stat(at); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return at, nil
		}
	}
	return "", fmt.Errorf("its interpreter %q is in no folder of PATH that only root and you may write to: name its whole path in the first line", name)
}

// shebang returns the interpreter and the argument in the first line of a script. Both are "" if
// the file is no script.
func shebang(f *trust.File) (interpreter, argument string, err error) {
	const longest = 256 // as the kernel has it
	r, err := f.Reader()
	if errors.Is(err, os.ErrPermission) {
		return "", "", nil // a file that can be run but not read is no script
	}
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	text := make([]byte, longest)
	n, err := io.ReadFull(bufio.NewReader(r), text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", "", err
	}
	line, found := strings.CutPrefix(string(text[:n]), "#!")
	if !found {
		return "", "", nil
	}
	line, _, _ = strings.Cut(line, "\n")
	line = strings.Trim(line, " \t\r")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], strings.TrimLeft(line[i:], " \t"), nil
	}
	return line, "", nil
}
