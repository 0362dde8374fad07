package value

// libcxxPrinter returns the printer of a type of libc++, by its name without the template's arguments; nil if it has none.
func libcxxPrinter(name string) printer { return nil }
