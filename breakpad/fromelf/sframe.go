package fromelf

import "bufio"

func (d *Dump) writeSFrame(w *bufio.Writer) error { return nil }
