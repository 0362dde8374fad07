package live

// about implements source.
func (f *files) about(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil, errClosed
	}
	return f.proc.readFile(name)
}
