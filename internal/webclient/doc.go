// Package webclient is the HTTP client of all that asks servers which the user has named.
//
// A server is not trusted. The client asks only hosts that the user has named, wherever a server
// redirects to ([New]); it takes no large headers; and a [Watch] ends an answer that comes too
// slowly, however it is cut into pieces.
package webclient
