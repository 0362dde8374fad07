package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// memberOf finds offsetof(TYPE, MEMBER), and TYPE.MEMBER, which is short for it.
var memberOf = regexp.MustCompile(`^offsetof\((\w+), ([\w.]+)\)$|^(\w+)\.([\w.]+)$`)

// runDebug writes the layout that the debug information of a run time system has. Of what that
// lacks, constants of the preprocessor, it writes the ones in which all neighbours agree.
func runDebug(w io.Writer, binary string, neighbours []string) error {
	agreed, err := agreement(neighbours)
	if err != nil {
		return err
	}
	args := []string{"-nx", "-batch", "-ex", `printf "release %s\n", (char *)etp_otp_release`}
	var names []string
	for line := range strings.Lines(probes) {
		name, expressions, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || name == "#" {
			continue
		}
		names = append(names, name)
		first, _, _ := strings.Cut(expressions, "|")
		first = memberOf.ReplaceAllString(strings.TrimSpace(first), "&((($1$3 *)0)->$2$4)")
		args = append(args, "-ex", fmt.Sprintf(`printf "%s %%ld\n", (long)(%s)`, name, first)) // it fails if a name is not known
	}
	out, err := exec.Command("gdb", append(args, binary)...).Output()
	fields := readFields(string(out))
	if fields["process.id"] == "" {
		return fmt.Errorf("%s has no debug information of a run time system (%w)", binary, err)
	}
	fmt.Fprintf(w, "# made by: go run ./language/beam/generate, from debug information of OTP %s\n", fields["release"])
	for _, name := range names {
		if v := cmp.Or(fields[name], agreed[name]); v != "" {
			fmt.Fprintln(w, name, v)
		}
	}
	return nil
}

// readFields reads lines with a name and a value.
func readFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			fields[name] = v
		}
	}
	return fields
}

// agreement returns the fields of which all layouts say the same.
func agreement(files []string) (map[string]string, error) {
	agreed := map[string]string{}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fields := readFields(string(text))
		if i == 0 {
			agreed = fields
			continue
		}
		for name, v := range agreed {
			if fields[name] != v {
				delete(agreed, name)
			}
		}
	}
	return agreed, nil
}
