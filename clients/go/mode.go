package tensorcache

// mode is what may change about the way a feed is served.
type mode struct {
	delivery string
	slots    int // 0 lets the daemon choose
}

// modes chooses the mode of a feed. Only the loop's goroutine changes it. The feed's mu guards
// current and chooser, which others read.
type modes[T Value] struct {
	wanted  mode             // of the stream that serves the next batch
	current mode             // of the present stream
	chooser *chooser         // chooses the delivery; nil if the caller did
	tuner   *tuner           // chooses the slots; nil if the caller did
	builder *batchBuilder[T] // nil if this process does not read columns
}

// isChoosing reports whether the delivery is not chosen yet.
func (m *modes[T]) isChoosing() bool { return m.chooser != nil && !m.chooser.settled }

// canView reports whether this process can make views of the windows.
func (m *modes[T]) canView() bool {
	return m.builder != nil && m.builder.reader.checkViews() == nil
}

// cancelChange makes the present mode the wanted one, because no other can be had.
func (m *modes[T]) cancelChange() {
	m.wanted = m.current
	if m.chooser != nil {
		m.chooser.settleOn(m.current.delivery)
	}
}

// recordAttached records that a stream with a number of slots is attached.
func (m *modes[T]) recordAttached(slots int) {
	if m.tuner != nil {
		m.tuner.resized(slots)
	}
	m.closeUnusedBuilder()
}

// isWorse reports whether a stream that was attached for more slots has no more slots than the
// present one, and fewer than wanted.
func (m *modes[T]) isWorse(attached, present int) bool {
	return m.wanted.delivery == m.current.delivery && attached < m.wanted.slots &&
		attached <= present
}

// step records that the loop has finished a batch.
func (m *modes[T]) step() {
	if m.isChoosing() {
		m.wanted.delivery = m.chooser.step()
		m.closeUnusedBuilder()
	}
}

// closeUnusedBuilder closes the builder if no later batch will need it.
func (m *modes[T]) closeUnusedBuilder() {
	if m.current.delivery == DeliverSlot && m.wanted == m.current && !m.isChoosing() {
		m.closeBuilder()
		m.builder = nil
	}
}

// closeBuilder lets the dataset unmap its files. A pass that still runs ends with ErrClosed.
func (m *modes[T]) closeBuilder() {
	if m.builder != nil {
		m.builder.close()
	}
}
