package ecma335

// The numbers of the tables that are read (II.22, and the specification of portable PDBs).
const (
	modules       = 0x00
	typeRefs      = 0x01
	typeDefs      = 0x02
	fields        = 0x04
	methods       = 0x06
	memberRefs    = 0x0a
	attributes    = 0x0c
	nestedClasses = 0x29
	genericParams = 0x2a
	documents     = 0x30
	methodLines   = 0x31
	stateMachines = 0x36
	customDebug   = 0x37
	tables        = 0x38
)

// firstTable plus a table's number is the letter of a column that is an index of it.
const firstTable = 0x1000

// schema has the columns of each table, by number: 1, 2 and 4 are bytes; s, g and b indexes of the
// heaps of texts, GUIDs and blobs; capital letters are in coded; others are indexes of tables.
var schema = [tables]string{
	0x00: "2sggg",
	0x01: "Rss",
	0x02: "4ssT" + of(4) + of(6),
	0x03: of(4),
	0x04: "2sb",
	0x05: of(6),
	0x06: "422sb" + of(8),
	0x07: of(8),
	0x08: "22s",
	0x09: of(2) + "T",
	0x0a: "Psb",
	0x0b: "2Cb",
	0x0c: "AYb",
	0x0d: "Fb",
	0x0e: "2Db",
	0x0f: "24" + of(2),
	0x10: "4" + of(4),
	0x11: "b",
	0x12: of(2) + of(0x14),
	0x13: of(0x14),
	0x14: "2sT",
	0x15: of(2) + of(0x17),
	0x16: of(0x17),
	0x17: "2sb",
	0x18: "2" + of(6) + "S",
	0x19: of(2) + "MM",
	0x1a: "s",
	0x1b: "b",
	0x1c: "2Os" + of(0x1a),
	0x1d: "4" + of(4),
	0x1e: "44",
	0x1f: "4",
	0x20: "42222" + "4bss",
	0x21: "4",
	0x22: "444",
	0x23: "22224bssb",
	0x24: "4" + of(0x23),
	0x25: "444" + of(0x23),
	0x26: "4sb",
	0x27: "44ssI",
	0x28: "44sI",
	0x29: of(2) + of(2),
	0x2a: "22Gs",
	0x2b: "Mb",
	0x2c: of(0x2a) + "T",
	0x30: "bgbg",
	0x31: of(0x30) + "b",
	0x32: of(6) + of(0x35) + of(0x33) + of(0x34) + "44",
	0x33: "22s",
	0x34: "sb",
	0x35: of(0x35) + "b",
	0x36: of(6) + of(6),
	0x37: "Xgb",
}

func of(table rune) string { return string(firstTable + table) }

// code is an index whose lowest bits tell the table (II.24.2.6).
type code struct {
	bits   int
	tables []int
}

const none = tables // stands for tags that are not used

var coded = map[rune]code{
	'T': {2, []int{2, 1, 0x1b}},                // TypeDefOrRef
	'C': {2, []int{4, 8, 0x17}},                // HasConstant
	'A': {5, attributed},                       // HasCustomAttribute
	'F': {1, []int{4, 8}},                      // HasFieldMarshal
	'D': {2, []int{2, 6, 0x20}},                // HasDeclSecurity
	'P': {3, []int{2, 1, 0x1a, 6, 0x1b}},       // MemberRefParent
	'S': {1, []int{0x14, 0x17}},                // HasSemantics
	'M': {1, []int{6, 0x0a}},                   // MethodDefOrRef
	'O': {1, []int{4, 6}},                      // MemberForwarded
	'I': {2, []int{0x26, 0x23, 0x27}},          // Implementation
	'Y': {3, []int{none, none, 6, 0x0a, none}}, // CustomAttributeType
	'R': {2, []int{0, 0x1a, 0x23, 1}},          // ResolutionScope
	'G': {1, []int{2, 6}},                      // TypeOrMethodDef
	'X': {5, append(attributed[:len(attributed):len(attributed)], // HasCustomDebugInformation
		0x30, 0x32, 0x33, 0x34, 0x35)},
}

var attributed = []int{6, 4, 1, 2, 8, 9, 0x0a, 0, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b}
