package mmapfile

// Populate does nothing: macOS has no call for it.
func (w *Writable) Populate(_, _ int64) (ok bool) { return false }
