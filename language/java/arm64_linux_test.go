package java_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/remote"
)

// emulated returns the folder of Debian's JDK 17 for arm64 and of what it needs, which are fetched
// once.
func emulated(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(source, ".cache", "jdk-arm64")
	cmd := exec.Command("sh", filepath.Join(source, "internal", "bench", "debian.sh"), root, "bookworm", "openjdk-17-jre-headless", "libc6", "libgcc-s1", "libstdc++6", "zlib1g")
	cmd.Env = append(os.Environ(), "DEBIAN_ARCH=arm64")
	if out, err := cmd.CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("there is no JDK of arm64: %v\n%s", err, out))
	}
	// Its settings lie in /etc.
	err = filepath.WalkDir(filepath.Join(root, "usr", "lib", "jvm"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Type() != os.ModeSymlink {
			return err
		}
		to, err := os.Readlink(path)
		if err == nil && strings.HasPrefix(to, "/etc/") {
			err = errors.Join(os.Remove(path), os.Symlink(root+to, path))
		}
		return err
	})
	// What the program loads has its path on this machine, but for what qemu has found below root.
	self := root + root
	if _, there := os.Lstat(self); err == nil && there != nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(self), 0o755), os.Symlink("/", self))
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// untilTrap lets qemu's program run until it gets the signal of a debugger. It gets its other
// signals, as of null pointers.
func untilTrap(stub io.Writer, answers *bufio.Reader) error {
	packet := "c"
	for {
		sum := byte(0)
		for _, b := range []byte(packet) {
			sum += b
		}
		fmt.Fprintf(stub, "$%s#%02x", packet, sum)
		said, err := answers.ReadString('#')
		if err == nil {
			_, err = io.ReadFull(answers, make([]byte, 2)) // the checksum
		}
		if err != nil {
			return err
		}
		io.WriteString(stub, "+")
		_, said, stop := strings.Cut(said, "$T")
		if !stop || len(said) < 2 {
			return fmt.Errorf("qemu says %q", said)
		}
		if said[:2] == "05" {
			return nil
		}
		packet = "C" + said[:2]
	}
}

// withoutLoop returns a stack without its innermost frame if that goes on meanwhile.
func withoutLoop(list []string) []string {
	if len(list) > 0 && strings.HasPrefix(list[0], "Locks.lambda$") {
		return list[1:]
	}
	return list
}

// TestARM64 compares the frames of a virtual machine of arm64, which qemu emulates, with jstack's,
// which reaches it as any other.
func TestARM64(t *testing.T) {
	gdbtest.Later(t, "java")
	qemu, javac := gdbtest.Tool(t, "qemu-aarch64"), gdbtest.Tool(t, "javac")
	root, dir := emulated(t), t.TempDir()
	if out, err := exec.Command(javac, "--release", "17", "-d", dir, "testdata/Locks.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	for name, flag := range map[string]string{"compiled": "-Xcomp", "interpreted": "-Xint"} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "stub")
			p := exec.Command(qemu, "-cpu", "cortex-a72", "-g", socket, "-L", root, filepath.Join(root, "usr/lib/jvm/java-17-openjdk-arm64/bin/java"), flag, "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Locks*::*", "-Xmx64m", "-cp", dir, "Locks")
			p.Dir = t.TempDir()
			out, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			defer p.Wait()
			defer p.Process.Kill()
			var stub net.Conn
			gdbtest.Await(t, "qemu listens", func() (ok bool) {
				var err error
				stub, err = net.Dial("unix", socket)
				return err == nil
			})
			defer stub.Close()
			answers, stopped := bufio.NewReader(stub), make(chan error, 1)
			go func() { stopped <- untilTrap(stub, answers) }()
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatalf("the program says %q, %v", line, err)
			}
			var want map[int][]string
			gdbtest.Await(t, "all threads are where they end", func() bool {
				before := jstack(t, p.Process.Pid)
				want = jstack(t, p.Process.Pid)
				return len(want) >= 12 && maps.EqualFunc(before, want, func(a, b []string) bool {
					all := strings.Join(b, " ")
					coming := strings.Contains(all, "Locks.both(") && strings.Contains(all, "Locks.sleep(")
					return !coming && slices.Equal(withoutLoop(a), withoutLoop(b))
				})
			})
			// qemu stops its program, and says so, when it gets the signal of a debugger itself.
			p.Process.Signal(syscall.SIGTRAP)
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}

			// The stub serves one connection in its life.
			front := filepath.Join(t.TempDir(), "stub")
			l, err := net.Listen("unix", front)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				if conn, err := l.Accept(); err == nil {
					go io.Copy(stub, conn)
					io.Copy(conn, answers)
				}
			}()
			tg, err := remote.Dial(context.Background(), "unix:"+front, remote.Options{Sysroot: root, Timeout: time.Until(gdbtest.Deadline(t))})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			got, _ := framesOf(t, tg)
			compared := 0
			for tid, list := range want {
				ours := got[tid]
				if compared++; !slices.Equal(withoutLoop(ours), withoutLoop(list)) {
					t.Errorf("thread %d:\n%s\njstack:\n%s", tid, strings.Join(ours, "\n"), strings.Join(list, "\n"))
				}
			}
			if compared < 12 {
				t.Errorf("only %d threads were compared", compared)
			}
		})
	}
}
