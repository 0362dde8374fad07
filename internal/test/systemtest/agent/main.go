//go:build linux

// Command agent runs in a guest of [systemtest]: it asks the machine that the guest runs on for
// operations, and does them. Under another name, such as cc, it has that machine run the program of
// this name.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/systemtest/wire"
)

func main() {
	line, err := os.ReadFile("/proc/cmdline")
	at := regexp.MustCompile(`sfwalk\.host=(\S+)`).FindSubmatch(line)
	if err == nil && at == nil {
		err = fmt.Errorf("no sfwalk.host= in the kernel's command line %q", line)
	}
	if err == nil {
		there := &host{url: "http://" + string(at[1])}
		if name := filepath.Base(os.Args[0]); name != "agent" {
			err = there.tool(name)
		} else {
			err = there.serve()
		}
	}
	fmt.Fprintln(os.Stderr, "agent:", err)
	os.Exit(1)
}

// host is the machine that the guest runs on.
type host struct{ url string }

// post sends a body, and decodes the answer into v, unless that is nil.
func (h *host) post(path string, body io.Reader, v any) error {
	resp, err := http.Post(h.url+path, "application/octet-stream", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s %s", path, resp.Status, text)
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// serve does operations until there are no more.
func (h *host) serve() error {
	for {
		var op wire.Op
		if err := h.post("/next", nil, &op); err != nil {
			return err
		}
		go func() {
			if err := h.do(op); err != nil {
				h.post(fmt.Sprintf("/failed/%d", op.ID), strings.NewReader(err.Error()), nil)
			}
		}()
	}
}

func (h *host) do(op wire.Op) error {
	done := fmt.Sprintf("/done/%d", op.ID)
	switch op.Kind {
	case "put":
		resp, err := http.Get(fmt.Sprintf("%s/data/%d", h.url, op.ID))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := os.MkdirAll(filepath.Dir(op.Path), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(op.Path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, resp.Body)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		return h.post(done, nil, nil)
	case "get":
		f, err := os.Open(op.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		return h.post(done, f, nil)
	case "run":
		text, err := json.Marshal(run(op))
		if err != nil {
			return err
		}
		return h.post(done, bytes.NewReader(text), nil)
	}
	return fmt.Errorf("operation %q is not known", op.Kind)
}

// run runs a command, and in the end kills the processes that it has left behind.
func run(op wire.Op) (done wire.Done) {
	if op.Dir != "" {
		if err := os.MkdirAll(op.Dir, 0o755); err != nil {
			return wire.Done{Code: -1, Err: err.Error()}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(op.Seconds*float64(time.Second)))
	defer cancel()
	cmd := exec.CommandContext(ctx, op.Args[0], op.Args[1:]...)
	cmd.Dir, cmd.Env = op.Dir, append(os.Environ(), op.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var output bytes.Buffer
	both := io.MultiWriter(&output, os.Stdout) // the console, where it can be followed
	cmd.Stdout, cmd.Stderr = both, both
	err := cmd.Run()
	done.Output = output.Bytes()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		done.Err = fmt.Sprintf("it was killed after %v s", op.Seconds)
	case err != nil && !errors.As(err, &exit):
		done.Err = err.Error()
	}
	done.Code = -1
	if cmd.ProcessState != nil {
		done.Code = cmd.ProcessState.ExitCode()
	}
	return done
}

// tool has the other machine run a program, and exits with the program's status.
func (h *host) tool(name string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	t := wire.Tool{Name: name, Dir: dir, Args: os.Args[1:], Files: map[string][]byte{}}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GO") || strings.HasPrefix(v, "CGO") {
			t.Env = append(t.Env, v)
		}
	}
	output := ""
	for i, arg := range t.Args {
		if i > 0 && t.Args[i-1] == "-o" {
			output = arg
			continue
		}
		if path := arg; filepath.IsAbs(path) {
			if data, err := os.ReadFile(path); err == nil {
				t.Files[path] = data
			}
		}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var made wire.Made
	if err := h.post("/tool", bytes.NewReader(text), &made); err != nil {
		return err
	}
	os.Stdout.Write(made.Stdout)
	os.Stderr.Write(made.Stderr)
	if output != "" && made.Output != nil {
		if err := os.WriteFile(output, made.Output, 0o755); err != nil {
			return err
		}
	}
	os.Exit(made.Code)
	return nil
}
