package wire

import "fmt"

// Protocols are the versions of the protocol that a daemon or a client speaks: all from Least to
// Newest. The protocol is what passes over feed.sock and is in daemon.json.
//
//	1  the first
type Protocols struct {
	Newest int `json:"protocol"`
	// Least is 0 if only Newest is spoken.
	Least int `json:"protocol_least,omitempty"`
}

// OwnProtocols are those of this program, as a daemon and as a client.
var OwnProtocols = Protocols{Newest: 1, Least: 1}

// Common returns the newest version that both speak. It returns 0 and false if there is none.
func (p Protocols) Common(other Protocols) (int, bool) {
	newest := min(p.Newest, other.Newest)
	if newest < max(1, p.least(), other.least()) {
		return 0, false
	}
	return newest, true
}

func (p Protocols) least() int {
	if p.Least == 0 {
		return p.Newest
	}
	return p.Least
}

// Describe returns the versions for a message: "protocol 1" or "protocols 1 to 3".
func (p Protocols) Describe() string {
	if p.least() == p.Newest {
		return fmt.Sprintf("protocol %d", p.Newest)
	}
	return fmt.Sprintf("protocols %d to %d", p.least(), p.Newest)
}
