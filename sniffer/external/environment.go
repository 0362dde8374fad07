package external

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/trust"
)

// inherited are the environment variables that a plug-in gets beside go-plugin's own.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// environment returns the inherited variables. For a guarded plug-in it leaves out folders that
// others may write to: PATH leads to programs, and HOME to Python's modules. Under sudo these may
// be another user's.
func environment(guarded bool) (list []string) {
	for _, name := range inherited {
		value, found := os.LookupEnv(name)
		if found && guarded {
			value, found = ownFolders(name, value)
		}
		if found {
			list = append(list, name+"="+value)
		}
	}
	return list
}

func ownFolders(name, value string) (string, bool) {
	switch name {
	case "PATH":
		value = trust.SearchPath(value)
		return value, value != "" // "" is the working directory
	case "HOME":
		f, err := trust.Open(value)
		if err != nil {
			return "", false
		}
		defer f.Close()
		return value, f.Others == nil
	case "TMPDIR":
		return value, trust.Temporary(value) == nil
	}
	return value, true
}
