package symbolserver

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/webclient"
)

// part is a file that is being fetched: its bytes as they were sent. Its name is this process's
// alone while it is; else another one may go on with it.
type part struct {
	path string // of the file that it becomes
	file *os.File
	about
}

// about is what is kept of a part beside it.
type about struct {
	Validator string // ETag or Last-Modified: a part of what has another one is thrown away
	Gzip      bool   // the bytes are compressed
}

// claimPart opens the part that was left, or a new one.
func claimPart(path string) (*part, error) {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, ".fetching-*")
	if err != nil {
		return nil, err
	}
	p := &part{path: path, file: file}
	if text, err := os.ReadFile(p.left() + ".about"); err == nil && os.Rename(p.left(), file.Name()) == nil {
		file.Close()
		if p.file, err = os.OpenFile(file.Name(), os.O_RDWR, 0); err != nil {
			return nil, err
		}
		if json.Unmarshal(text, &p.about) != nil || p.Validator == "" {
			p.restart(about{})
		}
	}
	return p, nil
}

// left is the name of a part that nobody works on.
func (p *part) left() string { return filepath.Join(filepath.Dir(p.path), partName) }

// leave leaves what there is of the part to the next who asks for it.
func (p *part) leave() {
	if p.file == nil {
		return
	}
	name := p.file.Name()
	size, _ := p.file.Seek(0, io.SeekEnd)
	p.file.Close()
	text, err := json.Marshal(p.about)
	if err != nil || size == 0 || p.Validator == "" || os.WriteFile(p.left()+".about", text, 0o600) != nil || os.Rename(name, p.left()) != nil {
		os.Remove(name)
	}
}

// restart throws away what there is.
func (p *part) restart(a about) error {
	p.about = a
	_, err := p.file.Seek(0, io.SeekStart)
	return errors.Join(err, p.file.Truncate(0))
}

// get fetches the part, or what is missing of it.
func (s *Server) get(ctx context.Context, where *url.URL, p *part, progress Progress) error {
	watch := webclient.NewWatch(ctx)
	defer watch.End()
	r, err := http.NewRequestWithContext(watch.Context, http.MethodGet, where.String(), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept-Encoding", "gzip")
	have, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have > 0 && p.Validator != "" {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		r.Header.Set("If-Range", p.Validator)
	}
	answer, err := webclient.Do(s.client, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	now := about{validator(answer.Header), strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip")}
	switch answer.StatusCode {
	case http.StatusPartialContent:
		var from int64
		if n, _ := fmt.Sscanf(answer.Header.Get("Content-Range"), "bytes %d-", &from); n != 1 || from != have || have == 0 || now.Gzip != p.Gzip {
			return errors.Join(errors.New("the server sends another part than it was asked for"), p.restart(about{}))
		}
	case http.StatusOK:
		if err := p.restart(now); err != nil {
			return err
		}
		have = 0
	case http.StatusRequestedRangeNotSatisfiable:
		return errors.Join(errors.New("the server has less than it had"), p.restart(about{}))
	default:
		return statusError(answer.StatusCode)
	}
	if e := answer.Header.Get("Content-Encoding"); e != "" && !now.Gzip && !strings.EqualFold(e, "identity") {
		return fmt.Errorf("the server sends an encoding that was not asked for: %.40q", e)
	}
	if answer.ContentLength > s.maxSize-have {
		return errors.Join(errLarge, p.restart(about{}))
	}
	progress.Begin(answer.ContentLength)
	watch.Start(s.pace)
	buf := make([]byte, 64<<10)
	for {
		n, err := answer.Body.Read(buf)
		watch.Add(n)
		if have += int64(n); have > s.maxSize {
			return errors.Join(errLarge, p.restart(about{}))
		}
		if s.left.Add(-int64(n)) < 0 {
			return errors.Join(errFull, p.restart(about{}))
		}
		if _, err := p.file.Write(buf[:n]); err != nil {
			return err
		}
		progress.Add(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if cause := context.Cause(watch.Context); cause != nil {
				err = cause
			}
			return err
		}
	}
}

// validator returns what says later whether the content is the same; "" if there is nothing that is
// sure.
func validator(h http.Header) string {
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}

// finish checks the file that was fetched, and puts it in its place, unpacked. What is not the
// symbols of m is thrown away.
func (s *Server) finish(p *part, m breakpad.Module) error {
	n, err := s.unpack(p, m)
	s.left.Add(-n)
	name := p.file.Name()
	p.file.Close()
	p.file = nil
	os.Remove(name)
	os.Remove(p.left() + ".about")
	return err
}

// unpack returns how many bytes it has written.
func (s *Server) unpack(p *part, m breakpad.Module) (n int64, err error) {
	most := min(s.maxSize, s.left.Load())
	sent, err := p.file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	var in io.Reader = bufio.NewReaderSize(p.file, 64<<10)
	if head, _ := in.(*bufio.Reader).Peek(2); p.Gzip || string(head) == "\x1f\x8b" { // some stores have compressed files, and do not say so
		z, err := gzip.NewReader(in)
		if err != nil {
			return 0, fmt.Errorf("the answer is not compressed as it says: %w", err)
		}
		in, most = z, min(most, s.free.Load()+maxRatio*sent)
		defer func() { s.free.Add(-max(n-maxRatio*sent, 0)) }()
	}
	text := bufio.NewReaderSize(in, 64<<10)
	line, err := text.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: %w", breakpad.ErrNoModule, err)
	}
	record, err := breakpad.ParseRecord([]byte(strings.TrimRight(string(line), "\r\n")))
	got, ok := record.(breakpad.Module)
	if err != nil || !ok {
		return 0, breakpad.ErrNoModule
	}
	if got.ID != m.ID {
		return 0, fmt.Errorf("the server sends the symbols of %.100s %.100s", got.Name, got.ID)
	}
	out, err := os.CreateTemp(filepath.Dir(p.path), ".unpacked-*")
	if err != nil {
		return 0, err
	}
	_, err = out.Write(line)
	if err == nil {
		if n, err = io.Copy(out, io.LimitReader(text, most)); err == nil && n == most {
			err = fmt.Errorf("%w: it has %d bytes as it is sent, and becomes more than %d; "+
				"if you trust it, have it in a folder, as NAME/IDENTIFIER/NAME.sym, and name that by --symbols", errLarge, sent, most)
		}
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), p.path)
	}
	if err != nil {
		os.Remove(out.Name())
	}
	return n, err
}
