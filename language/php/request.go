package php

// about says what a server's worker does: which request it serves.
func (c *chain) about() string {
	if c.request == 0 {
		return ""
	}
	text := func(f field) string {
		at := c.Pointer(c.request + c.layout.at[f])
		if at == 0 {
			return ""
		}
		return c.CString(at)
	}
	method, uri, query := text(requestMethod), text(requestURI), text(requestQuery)
	if c.Err() != nil || method == "" || uri == "" {
		return "" // a command has no request
	}
	if query != "" {
		uri += "?" + query
	}
	return "serves " + method + " " + uri
}

// isString is the type of a zval that has a string.
const isString = 6

// exception returns what is being thrown, "" if nothing is. The first property of exceptions and
// errors is their message.
func (c *chain) exception() string {
	object := c.Pointer(c.globals + c.layout.at[globalsException])
	if object == 0 {
		return ""
	}
	text := c.classOf(object)
	if message := object + c.layout.at[objectProperties]; c.Uint(message+c.layout.at[zvalType], 1) == isString {
		if m := c.text(c.Pointer(message)); m != "" {
			text += ": " + m
		}
	}
	if c.Err() != nil {
		return ""
	}
	return text
}
