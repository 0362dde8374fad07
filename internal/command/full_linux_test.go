package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
)

// install puts programs into a folder: "sfwalk", without a host, and "sfwalk-full", with one. Each
// is the test binary, which does what its name says.
func install(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := plugintest.Copy(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sfwalk runs an installed program.
func sfwalk(t *testing.T, path string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(path, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// sfwalk becomes sfwalk-full where there are plug-ins.
func TestBecomes(t *testing.T) {
	pid, plugin := startJIT(t), plugintest.Path(t, "jit")
	plain, both, full := install(t, "sfwalk"), install(t, "sfwalk", "sfwalk-full"), install(t, "sfwalk-full")
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
		out, errOut, code := sfwalk(t, program, "attach", pid, "--plugin", plugin, "--json")
		for try := 0; try < 5 && strings.Contains(errOut, "does not answer in time"); try++ { // on a busy machine
			out, errOut, code = sfwalk(t, program, "attach", pid, "--plugin", plugin, "--json")
		}
		if code != 0 || errOut != "" {
			t.Fatalf("%s: exit code %d, %s", bin, code, errOut)
		}
		checkJIT(t, out)
	}

	// There is no sfwalk-full, or one without a host.
	const remedy = "go install github.com/sfwalk/sfwalk/cmd/sfwalk-full@latest"
	fake := install(t, "sfwalk")
	if err := os.Link(filepath.Join(fake, "sfwalk"), filepath.Join(fake, "sfwalk-full")); err != nil {
		t.Fatal(err)
	}
	loop := t.TempDir() // a sfwalk-full that becomes sfwalk again
	if err := errors.Join(plugintest.Copy(filepath.Join(loop, "sfwalk")),
		os.WriteFile(filepath.Join(loop, "sfwalk-full"), []byte("#!/bin/sh\nexec "+loop+"/sfwalk \"$@\"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	// Root does not run a program from a folder of PATH that others may write to.
	shared := install(t, "sfwalk-full")
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", shared)
	if _, errOut, code := sfwalk(t, filepath.Join(plain, "sfwalk"), "plugin", "check", plugin); code != 1 || !strings.Contains(errOut, "others may write to "+shared) {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	t.Setenv("PATH", "/nonexistent")
	for _, tt := range []struct {
		dir, args, want string
	}{
		{plain, "attach --plugin " + plugin + " " + pid, "plug-ins, Delve and servers of symbols need sfwalk-full, which is neither beside " + plain + "/sfwalk nor in PATH: " + remedy},
		{plain, "plugin check " + plugin, remedy},
		{plain, "plugin run " + plugin + " " + pid, remedy},
		{loop, "attach --plugin " + plugin + " " + pid, "another program by that name: " + remedy},
	} {
		out, errOut, code := sfwalk(t, filepath.Join(tt.dir, "sfwalk"), strings.Fields(tt.args)...)
		if code != 1 || !strings.Contains(errOut, tt.want) || out != "" {
			t.Errorf("%s: exit code %d, %s, want %s", tt.args, code, errOut, tt.want)
		}
	}

	// Without sfwalk-full, plug-ins in the directories are left out.
	pluginDir(t, "jit")
	sfw := filepath.Join(plain, "sfwalk")
	out, errOut, code := sfwalk(t, sfw, "attach", pid)
	if code != 0 || !strings.Contains(errOut, "sfwalk: warning: plug-ins ") || !strings.Contains(errOut, remedy) || !strings.Contains(out, "down (…) at ") || !strings.Contains(out, " in ?? () [guess]\n") {
		t.Errorf("exit code %d, %s\n%s", code, errOut, out)
	}
	if _, errOut, code := sfwalk(t, sfw, "attach", pid, "--no-plugins"); code != 0 || errOut != "" {
		t.Errorf("--no-plugins: exit code %d, %s", code, errOut)
	}
	if _, errOut, code := sfwalk(t, sfw, "attach", pid, "--sniffers", "jit"); code != exit.Error || !strings.Contains(errOut, remedy) {
		t.Errorf("--sniffers: exit code %d, %s", code, errOut)
	}
	out, errOut, code = sfwalk(t, filepath.Join(both, "sfwalk"), "attach", pid, "--json")
	if code != 0 || errOut != "" {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	checkJIT(t, out)
}

// However sfwalk ends, no plug-in stays behind, and the process that it looked at runs on.
func TestInterrupted(t *testing.T) {
	pid := startJIT(t)
	dir := install(t, "sfwalk", "sfwalk-full")
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
		gdbtest.Await(t, "the plug-in to end", func() bool { return len(running(t, plugin)) == 0 })
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || !strings.Contains(string(status), "\nState:\tS (sleeping)\n") || !strings.Contains(string(status), "\nTracerPid:\t0\n") {
			t.Errorf("%s, %v: %v\n%s", mode, sig, err, status)
		}
	}
}

// running returns the processes of a program.
func running(t *testing.T, path string) (pids []int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range list {
		if exe, err := os.Readlink(link); err == nil && exe == path {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}
