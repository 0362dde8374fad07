//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/sfwalk/sfwalk/picture"
)

// sender sends profiles of a process to a receiver.
type sender struct {
	client http.Client
	url    string
	pid    int
}

// pprof sends a profile in pprof's format, compressed, as Pyroscope's /ingest takes it.
func (s *sender) pprof(stacks *picture.Stacks) error {
	var body bytes.Buffer
	if err := stacks.WritePprof(&body); err != nil {
		return err
	}
	at, err := url.Parse(s.url)
	if err != nil {
		return err
	}
	query := at.Query()
	query.Set("name", "sfwalk.pid."+strconv.Itoa(s.pid))
	query.Set("format", "pprof")
	query.Set("from", strconv.FormatInt(stacks.Time.Unix(), 10))
	query.Set("until", strconv.FormatInt(stacks.Time.Add(stacks.Duration).Unix(), 10))
	at.RawQuery = query.Encode()
	return s.post(at.String(), "application/octet-stream", &body)
}

func (s *sender) post(to, kind string, body io.Reader) error {
	resp, err := s.client.Post(to, kind, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)); resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s: %q", to, resp.Status, text)
	}
	return nil
}
