package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

// sfwalk becomes sfwalk-full where there are plug-ins.
func TestBecomes(t *testing.T) {
	pid, plugin := commandtest.StartJIT(t), plugintest.Path(t, "jit")
	plain, both, full := commandtest.Install(t, "sfwalk"), commandtest.Install(t, "sfwalk", "sfwalk-full"), commandtest.Install(t, "sfwalk-full")
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(both, "sfwalk"), filepath.Join(linked, "sfwalk")); err != nil {
		t.Fatal(err)
	}
	for _, bin := range []string{both, full + ":" + plain, linked, full} {
		path, program, _ := strings.Cut(bin, ":")
		if program == "" {
			program, path = path, "/nonexistent"
		}
		t.Setenv("PATH", path)
		program = filepath.Join(program, "sfwalk")
		if bin == full {
			program += "-full"
		}
		out, errOut, code := commandtest.RunInstalled(t, program, "attach", pid, "--plugin", plugin, "--json")
		for try := 0; try < 5 && strings.Contains(errOut, "does not answer in time"); try++ { // on a busy machine
			out, errOut, code = commandtest.RunInstalled(t, program, "attach", pid, "--plugin", plugin, "--json")
		}
		if code != 0 || errOut != "" {
			t.Fatalf("%s: exit code %d, %s", bin, code, errOut)
		}
		commandtest.CheckJIT(t, out)
	}

	// There is no sfwalk-full, or one without a host.
	const remedy = "go install github.com/sfwalk/sfwalk/cmd/sfwalk-full@latest, or in a clone go install ./cmd/..."
	fake := commandtest.Install(t, "sfwalk")
	if err := os.Link(filepath.Join(fake, "sfwalk"), filepath.Join(fake, "sfwalk-full")); err != nil {
		t.Fatal(err)
	}
	loop := t.TempDir() // a sfwalk-full that becomes sfwalk again
	if err := errors.Join(plugintest.Copy(filepath.Join(loop, "sfwalk")),
		os.WriteFile(filepath.Join(loop, "sfwalk-full"), []byte("#!/bin/sh\nexec "+loop+"/sfwalk \"$@\"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	// Root does not run a program from a folder of PATH that others may write to.
	shared := commandtest.Install(t, "sfwalk-full")
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", shared)
	if _, errOut, code := commandtest.RunInstalled(t, filepath.Join(plain, "sfwalk"), "plugin", "check", plugin); code != 1 || !strings.Contains(errOut, "others may write to "+shared) {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	t.Setenv("PATH", "/nonexistent")
	for _, tt := range []struct {
		dir, args, want string
	}{
		{plain, "attach --plugin " + plugin + " " + pid, "plug-ins, Delve, servers of symbols, top and --http need sfwalk-full, which is neither beside " + plain + "/sfwalk nor in PATH: " + remedy},
		{plain, "plugin check " + plugin, remedy},
		{plain, "top " + pid, remedy},
		{plain, "plugin run " + plugin + " " + pid, remedy},
		{loop, "attach --plugin " + plugin + " " + pid, "another program by that name: " + remedy},
	} {
		out, errOut, code := commandtest.RunInstalled(t, filepath.Join(tt.dir, "sfwalk"), strings.Fields(tt.args)...)
		if code != 1 || !strings.Contains(errOut, tt.want) || out != "" {
			t.Errorf("%s: exit code %d, %s, want %s", tt.args, code, errOut, tt.want)
		}
	}

	// Without sfwalk-full, plug-ins in the directories are left out.
	commandtest.PluginDir(t, "jit")
	sfw := filepath.Join(plain, "sfwalk")
	out, errOut, code := commandtest.RunInstalled(t, sfw, "attach", pid)
	if code != 0 || !strings.Contains(errOut, "sfwalk: warning: plug-ins ") || !strings.Contains(errOut, remedy) || !strings.Contains(out, "down (…) at ") || !strings.Contains(out, " in ?? () [guess]\n") {
		t.Errorf("exit code %d, %s\n%s", code, errOut, out)
	}
	if _, errOut, code := commandtest.RunInstalled(t, sfw, "attach", pid, "--no-plugins"); code != 0 || errOut != "" {
		t.Errorf("--no-plugins: exit code %d, %s", code, errOut)
	}
	if _, errOut, code := commandtest.RunInstalled(t, sfw, "attach", pid, "--sniffers", "jit"); code != exit.Error || !strings.Contains(errOut, remedy) {
		t.Errorf("--sniffers: exit code %d, %s", code, errOut)
	}
	out, errOut, code = commandtest.RunInstalled(t, filepath.Join(both, "sfwalk"), "attach", pid, "--json")
	if code != 0 || errOut != "" {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	commandtest.CheckJIT(t, out)
}

// However sfwalk ends, no plug-in stays behind, and the process that it looked at runs on.
func TestInterrupted(t *testing.T) {
	pid := commandtest.StartJIT(t)
	dir := commandtest.Install(t, "sfwalk", "sfwalk-full")
	for mode, sig := range map[string]syscall.Signal{"begin-hang": syscall.SIGINT, "describe-hang": syscall.SIGTERM, "sigterm": syscall.SIGKILL} {
		plugin := plugintest.Path(t, mode)
		hangs := plugin
		args := []string{"attach", pid, "--plugin", plugin}
		if sig == syscall.SIGKILL { // this one answers: keep it busy
			hangs = plugintest.Path(t, "describe-hang")
			args = append(args, "--plugin", hangs)
		}
		cmd := exec.Command(filepath.Join(dir, "sfwalk"), args...)
		var errOut bytes.Buffer
		cmd.Stderr = &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gdbtest.Await(t, "the plug-in to hang", func() bool { return plugintest.Hangs(hangs) })
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if sig != syscall.SIGKILL && (err == nil || cmd.ProcessState.ExitCode() != exit.Error || !strings.Contains(errOut.String(), "interrupted") || strings.Contains(errOut.String(), "5s")) {
			t.Errorf("%s, %v: %v, %s", mode, sig, err, &errOut)
		}
		gdbtest.Await(t, "the plug-in to end", func() bool { return len(commandtest.Running(t, plugin)) == 0 })
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || !strings.Contains(string(status), "\nState:\tS (sleeping)\n") || !strings.Contains(string(status), "\nTracerPid:\t0\n") {
			t.Errorf("%s, %v: %v\n%s", mode, sig, err, status)
		}
	}
}
