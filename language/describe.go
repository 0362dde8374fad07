package language

// Described is a [Decorator] that says in words what it knows. Help texts and the table of
// docs/languages.md are made of that.
type Described interface {
	Decorator
	Describe() Description
}

// Description is what a decorator knows, for users.
type Description struct {
	Title    string // the language as people write it: "Python"
	Releases string // whose frames are known: "CPython 3.8 to 3.15"
	Tasks    string // what [Tasker] lists: "tasks of asyncio and trio, greenlets"; "" for none
}

// Descriptions returns what the decorators of a list say, in its order.
func Descriptions(list []Decorator) (all []Description) {
	for _, d := range list {
		if d, ok := d.(Described); ok {
			all = append(all, d.Describe())
		}
	}
	return all
}
