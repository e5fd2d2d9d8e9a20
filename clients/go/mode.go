package tensorcache

// mode is how a feed is served, as far as that may change meanwhile.
type mode struct {
	delivery string
	slots    int // 0 lets the daemon choose
}

// modes chooses the mode of a feed. The loop's goroutine uses it; the feed's mu guards have and
// chooser, which others read.
type modes[T Value] struct {
	want    mode             // from the next batch on
	have    mode             // of the stream
	chooser *chooser         // of the delivery; nil if it was given
	tuner   *tuner           // of the slots; nil if they were given
	builder *batchBuilder[T] // nil if this process never gathers
}

// isChoosing reports whether a delivery is still being chosen.
func (m *modes[T]) isChoosing() bool { return m.chooser != nil && !m.chooser.settled }

// views reports whether this process can make views of the windows.
func (m *modes[T]) views() bool { return m.builder != nil && m.builder.reader.checkViews() == nil }

// keep gives up the wanted mode: no stream of it could be attached.
func (m *modes[T]) cancelChange() {
	m.want = m.have
	if m.chooser != nil {
		m.chooser.settleOn(m.have.delivery)
	}
}

// attached records that a stream with so many slots serves the feed.
func (m *modes[T]) recordAttached(slots int) {
	if m.tuner != nil {
		m.tuner.resized(slots)
	}
	m.closeUnusedBuilder()
}

// isWorse reports whether the stream that was attached for more slots has no more slots than the
// present one, and fewer than wanted.
func (m *modes[T]) isWorse(attached, present int) bool {
	return m.want.delivery == m.have.delivery && attached < m.want.slots && attached <= present
}

// step records that the loop has used up a batch.
func (m *modes[T]) step() {
	if m.isChoosing() {
		m.want.delivery = m.chooser.step()
		m.closeUnusedBuilder()
	}
}

// dropGather closes the gatherer once this process will not gather any more.
func (m *modes[T]) closeUnusedBuilder() {
	if m.have.delivery == DeliverSlot && m.want == m.have && !m.isChoosing() {
		m.closeBuilder()
		m.builder = nil
	}
}

// closeGather releases the dataset's maps. A pass that still runs notices.
func (m *modes[T]) closeBuilder() {
	if m.builder != nil {
		m.builder.close()
	}
}
