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
	if asked := c.parameter("REQUEST_URI"); asked != "" {
		uri = asked // before the server has rewritten it
	}
	return "serves " + method + " " + uri
}

// A FastCGI server sends parameters. PHP keeps them in a hash table, whose entries are in a list,
// too, in the structure of the request. That is private to a file of C, and has a buffer of 8 KiB
// and 128 words before the list: the same in all releases.
const (
	parametersFrom = 8<<10 + 128*8
	parametersTo   = parametersFrom + 256

	parameterNameLength = 4
	parameterName       = 8
	parameterLength     = 16
	parameterValue      = 24
	parameterNext       = 40

	mostParameters = 1 << 9
)

// parameter returns a parameter of the request that a FastCGI server has passed on; "" if there is
// none.
func (c *chain) parameter(name string) (value string) {
	context := c.Pointer(c.request + c.layout.at[requestContext])
	for at := context + parametersFrom; context != 0 && at < context+parametersTo && value == ""; at += 8 {
		entry := c.Pointer(at)
		for n := 0; n < mostParameters && entry != 0 && c.OK() && value == ""; n++ {
			length := c.Uint(entry+parameterNameLength, 4)
			if length == uint64(len(name)) && c.Text(c.Pointer(entry+parameterName), length) == name {
				value = c.Text(c.Pointer(entry+parameterValue), c.Uint(entry+parameterLength, 4))
			}
			entry = c.Pointer(entry + parameterNext)
		}
		_ = c.Err() // no list was there
	}
	return value
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
