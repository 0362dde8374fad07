package systemtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/test/systemtest/wire"
)

// tool runs a compiler, or another program that the guest lacks, for the guest.
func (g *Guest) tool(w http.ResponseWriter, r *http.Request) {
	var t wire.Tool
	err := json.NewDecoder(r.Body).Decode(&t)
	var made wire.Made
	if err == nil {
		made, err = g.runTool(t)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	json.NewEncoder(w).Encode(made)
}

// inTemp reports whether a guest may write to a path on this machine.
func (g *Guest) inTemp(path string) bool {
	return strings.HasPrefix(filepath.Clean(path), g.Temp+string(filepath.Separator))
}

func (g *Guest) runTool(t wire.Tool) (made wire.Made, err error) {
	command := map[string]string{
		"cc": g.Triple + "-gcc", "gcc": g.Triple + "-gcc", "c++": g.Triple + "-g++", "go": "go", "readelf": "readelf",
	}[t.Name]
	if command == "" {
		return made, errors.New(t.Name + " is none of the tools")
	}
	for path, data := range t.Files {
		if !g.inTemp(path) {
			continue // the module's source is on this machine, too
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o755)); err != nil {
			return made, err
		}
	}
	// The output goes to a name of its own: a guest may ask for any.
	dir, err := os.MkdirTemp(g.Temp, "tool")
	if err != nil {
		return made, err
	}
	defer os.RemoveAll(dir)
	output, args := "", append([]string(nil), t.Args...)
	for i := range args {
		if i > 0 && args[i-1] == "-o" {
			output = filepath.Join(dir, filepath.Base(args[i]))
			args[i] = output
		}
	}
	cmd := exec.Command(command, args...)
	if info, err := os.Stat(t.Dir); err == nil && info.IsDir() {
		cmd.Dir = t.Dir
	}
	cmd.Env = append(append(os.Environ(), t.Env...), "GOOS=linux", "GOARCH="+g.GOARCH, "CC="+g.Triple+"-gcc", "CXX="+g.Triple+"-g++")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return made, err
	}
	made = wire.Made{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Code: cmd.ProcessState.ExitCode()}
	if output != "" && made.Code == 0 {
		made.Output, err = os.ReadFile(output)
	}
	return made, err
}
