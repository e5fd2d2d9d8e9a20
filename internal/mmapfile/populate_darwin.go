package mmapfile

// Populate makes bytes ready to be written through the mapping where the system has a call for it;
// macOS has none.
func (w *Writable) Populate(_, _ int64) (ok bool) { return false }
