package minidump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// File is what a dump says.
type File struct {
	Order   binary.ByteOrder
	Time    time.Time // when it was written; zero if it does not say
	Flags   uint64    // MINIDUMP_TYPE: what it was asked to have
	Streams []Stream  // all, in the order of its directory

	System    System
	Misc      Misc
	Threads   []Thread
	Modules   []Module
	Unloaded  []Unloaded
	Memory    []Range      // whose bytes the file has, in the file's order; stacks are among them
	Regions   []Region     // the address space, if the dump lists it
	Exception *Exception   // the first that the process died of, or else the first; nil if there is none
	Breakpad  BreakpadInfo // which thread wrote the dump
	Assertion *Assertion   // nil if none failed
	Crashpad  *Crashpad    // nil if Crashpad did not write it
	Linux     Linux        // texts of Linux's /proc
	Languages []byte       // what sfwalk has noted of frames of languages, as its own text; nil for nothing
	// Exceptions are the exceptions of all threads, in the file's order.
	Exceptions []Exception
	Comment    string
	// Annotations are what the program's client has noted of the process.
	Annotations []Annotation

	Warnings []string // streams that are broken, one sentence each

	// Owner is the number of the user with whose rights files that the dump names are opened. If
	// this program is root's, and the dump that Open has opened is another user's, it is that user;
	// else it is 0.
	Owner int

	contexts  map[uint32]Location // of Exceptions, by thread
	codeViews map[Location]codeViewAt
	words     string // a microdump's reason
	r         *reader
	close     func() error // of the file that Open has opened; else nil
	word      regular.Word
}

// Stream is an entry of the directory.
type Stream struct {
	Type StreamType
	Location
}

// StreamType is the type of a stream (MINIDUMP_STREAM_TYPE).
type StreamType uint32

// The streams that are read.
const (
	ThreadList       StreamType = 3
	ModuleList       StreamType = 4
	MemoryList       StreamType = 5
	ExceptionStream  StreamType = 6
	SystemInfo       StreamType = 7
	Memory64List     StreamType = 9
	CommentA         StreamType = 10
	CommentW         StreamType = 11
	UnloadedModules  StreamType = 14
	MiscInfo         StreamType = 15
	MemoryInfoList   StreamType = 16
	ThreadNames      StreamType = 24
	BreakpadStream   StreamType = 0x47670001
	AssertionStream  StreamType = 0x47670002
	LinuxCPUInfo     StreamType = 0x47670003
	LinuxProcStatus  StreamType = 0x47670004
	LinuxLSBRelease  StreamType = 0x47670005
	LinuxCommandLine StreamType = 0x47670006
	LinuxEnvironment StreamType = 0x47670007
	LinuxAuxv        StreamType = 0x47670008
	LinuxMaps        StreamType = 0x47670009
	LinuxDSODebug    StreamType = 0x4767000a
	CrashpadStream   StreamType = 0x43500001
	LanguagesStream  StreamType = 0x73660001 // sfwalk's own
)

var streamNames = sync.OnceValue(func() map[StreamType]string {
	return map[StreamType]string{
		0: "UnusedStream", 1: "ReservedStream0", 2: "ReservedStream1",
		ThreadList: "ThreadListStream", ModuleList: "ModuleListStream", MemoryList: "MemoryListStream", ExceptionStream: "ExceptionStream",
		SystemInfo: "SystemInfoStream", 8: "ThreadExListStream", Memory64List: "Memory64ListStream", CommentA: "CommentStreamA", CommentW: "CommentStreamW",
		12: "HandleDataStream", 13: "FunctionTableStream", UnloadedModules: "UnloadedModuleListStream", MiscInfo: "MiscInfoStream",
		MemoryInfoList: "MemoryInfoListStream", 17: "ThreadInfoListStream", 18: "HandleOperationListStream", 19: "TokenStream", 20: "JavaScriptDataStream",
		21: "SystemMemoryInfoStream", 22: "ProcessVmCountersStream", 23: "IptTraceStream", ThreadNames: "ThreadNamesStream",
		BreakpadStream: "BreakpadInfoStream", AssertionStream: "AssertionInfoStream", LinuxCPUInfo: "LinuxCpuInfo", LinuxProcStatus: "LinuxProcStatus",
		LinuxLSBRelease: "LinuxLsbRelease", LinuxCommandLine: "LinuxCmdLine", LinuxEnvironment: "LinuxEnviron", LinuxAuxv: "LinuxAuxv",
		LinuxMaps: "LinuxMaps", LinuxDSODebug: "LinuxDsoDebug", CrashpadStream: "CrashpadInfoStream", LanguagesStream: "SfwalkLanguages",
		lldbFlag: "LLDBGenerated", // an empty one, by which LLDB knows its own dumps
	}
})

// String returns the name of Microsoft's, Breakpad's or Crashpad's; the number of others in
// hexadecimal.
func (t StreamType) String() string {
	if name := streamNames()[t]; name != "" {
		return name
	}
	return fmt.Sprintf("%#x", uint32(t))
}

const (
	signature = 0x504d444d // "MDMP"
	version   = 0xa793     // the low 16 bits; the others are the writer's

	maxStreams  = 1 << 12
	maxWarnings = 32
)

// ErrNot says that a file is no minidump; test with errors.Is.
var ErrNot = errors.New("not a minidump")

// Open opens a dump. The caller closes it. path may come from anybody: Open opens regular files
// only, and never waits.
func Open(path string) (*File, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("minidump %s: %w", path, withoutPath(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("minidump %s: %w", path, withoutPath(err))
	}
	owner := regular.OwnerOf(file)
	f, err := readOpen(file, info.Size())
	if err != nil || f.close == nil {
		file.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("minidump %s: %w", path, err)
	}
	f.ownedBy(owner)
	return f, nil
}

func (f *File) ownedBy(owner *regular.User) {
	if f.word.Here = owner; owner != nil {
		f.Owner = owner.UID
	}
}

// OpenNamed opens a file that the dump names, below root or, if that is "", on this machine: there
// with the rights of [File.Owner].
func (f *File) OpenNamed(root, path string) (*os.File, error) { return f.word.Open(root, path) }

// readOpen reads a dump out of a file. A small one is read as a whole; a large one stays open.
func readOpen(file *os.File, size int64) (*File, error) {
	if size <= maxWhole {
		b, err := readWhole(file, size)
		if err != nil {
			return nil, withoutPath(err)
		}
		return Read(b, int64(len(b)))
	}
	f, err := Read(file, size)
	if err == nil {
		f.close = file.Close
	}
	return f, err
}

// withoutPath takes the path off an error that the caller's message names already.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Close closes the file, if Open has opened it.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Read reads a dump of size bytes. r must stay readable as long as the memory is read.
func Read(r io.ReaderAt, size int64) (*File, error) {
	var header [32]byte
	if n, err := r.ReadAt(header[:], 0); n < len(header) {
		if err == nil || errors.Is(err, io.EOF) {
			err = ErrNot
		}
		return nil, fmt.Errorf("%d bytes: %w", n, err)
	}
	f := &File{Order: binary.LittleEndian}
	if binary.BigEndian.Uint32(header[:]) == signature {
		f.Order = binary.BigEndian
	} else if f.Order.Uint32(header[:]) != signature {
		return nil, fmt.Errorf("it begins with %q: %w", header[:4], ErrNot)
	}
	if v := f.Order.Uint32(header[4:]); v&0xffff != version {
		return nil, fmt.Errorf("version %#x: %w", v, ErrNot)
	}
	f.r = &reader{r: r, size: size, order: f.Order, left: maxRead, textLeft: maxTexts}
	if t := f.Order.Uint32(header[20:]); t != 0 {
		f.Time = time.Unix(int64(t), 0).UTC()
	}
	f.Flags = f.Order.Uint64(header[24:])
	n := f.Order.Uint32(header[8:])
	if n > maxStreams {
		return nil, fmt.Errorf("%d streams: more than %d", n, maxStreams)
	}
	directory, err := f.r.at(Location{12 * uint64(n), uint64(f.Order.Uint32(header[12:]))})
	if err != nil {
		return nil, fmt.Errorf("the directory: %w", err)
	}
	for ; len(directory) > 0; directory = directory[12:] {
		f.Streams = append(f.Streams, Stream{StreamType(f.Order.Uint32(directory)), f.r.location(directory[4:])})
	}
	f.readStreams()
	return f, nil
}

// readers are in the order in which streams are read: readers of later streams use what earlier
// streams have.
var readers = []struct {
	types []StreamType
	read  func(*File, Stream) error
}{
	{[]StreamType{SystemInfo}, (*File).readSystem},
	{[]StreamType{MiscInfo}, (*File).readMisc},
	{[]StreamType{ThreadList}, (*File).readThreads},
	{[]StreamType{ThreadNames}, (*File).readThreadNames},
	{[]StreamType{ModuleList}, (*File).readModules},
	{[]StreamType{UnloadedModules}, (*File).readUnloaded},
	{[]StreamType{MemoryList}, (*File).readMemory},
	{[]StreamType{Memory64List}, (*File).readMemory64},
	{[]StreamType{MemoryInfoList}, (*File).readRegions},
	{[]StreamType{ExceptionStream}, (*File).readExceptions},
	{[]StreamType{BreakpadStream}, (*File).readBreakpad},
	{[]StreamType{AssertionStream}, (*File).readAssertion},
	{[]StreamType{CrashpadStream}, (*File).readCrashpad},
	{[]StreamType{LinuxCPUInfo, LinuxProcStatus, LinuxLSBRelease, LinuxCommandLine, LinuxEnvironment, LinuxAuxv, LinuxMaps}, (*File).readLinux},
	{[]StreamType{CommentA, CommentW}, (*File).readComment},
	{[]StreamType{LanguagesStream}, (*File).readLanguages},
}

// readStreams reads the first stream of each type; of exceptions alone, dumps may have more.
func (f *File) readStreams() {
	for _, x := range readers {
		for _, t := range x.types {
			if s, ok := f.Stream(t); ok {
				f.r.holes = nil
				if err := x.read(f, s); err != nil {
					f.warn("%v: %w", t, err)
				}
				if f.r.holes != nil {
					f.warn("%v: %w: what follows is left out", t, f.r.holes)
				}
			}
		}
	}
}

// Stream returns the first stream of a type.
func (f *File) Stream(t StreamType) (s Stream, ok bool) {
	for _, s := range f.Streams {
		if s.Type == t {
			return s, true
		}
	}
	return s, false
}

func (f *File) warn(format string, args ...any) {
	switch n := len(f.Warnings); {
	case n < maxWarnings:
		f.Warnings = append(f.Warnings, fmt.Errorf(format, args...).Error())
	case n == maxWarnings:
		f.Warnings = append(f.Warnings, fmt.Sprintf("there are more warnings of streams than %d: further ones are left out", maxWarnings))
	}
}

func (f *File) readLanguages(s Stream) (err error) {
	f.Languages, err = f.r.at(s.Location)
	return err
}

func (f *File) readComment(s Stream) error {
	b, err := f.r.at(s.Location)
	if s.Type == CommentW {
		f.Comment = f.r.utf16(b)
	} else if err == nil {
		f.Comment = upToZero(b)
	}
	return err
}

// upToZero returns the text before the first zero of b.
func upToZero(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
