package external

// Dirs returns the directories that plug-ins are looked for in: those that the environment
// variable SFWALK_PLUGIN_PATH lists, then sfwalk/plugins in the user's folder of
// configuration (~/.config). There may be no such directory.
func Dirs() []string { return nil }

// Found is a plug-in in a directory.
type Found struct {
	Path   string
	SHA256 string // the checksum that the directory's lock file pins; "" where there is none
}

// LockFile is the name of the file in a directory that pins checksums, in the format of
// sha256sum(1). Where there is one, a plug-in that it does not list is left out.
const LockFile = "plugins.lock"

// Find lists the plug-ins in directories, by name: executable files whose names begin with
// "sniffer-". Others' files are not trusted: a directory or program that somebody else but
// root or the user owns, or may write to, is left out. The warnings say what was left out, why,
// and what to do.
func Find(dirs ...string) (list []Found, warnings []error) { return nil, nil }
