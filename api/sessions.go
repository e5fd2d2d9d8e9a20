package api

import (
	"crypto/sha256"
	"sync"
	"time"
)

// How long a one-time key may wait for its use and a session for its next request, and how many
// there may be of each.
const (
	keyLifetime     = time.Minute
	sessionLifetime = 12 * time.Hour
	maxSecrets      = 64
)

// hash is the SHA-256 of a secret: what is looked up says nothing of the secret by how long the
// look-up takes.
type secretHash [sha256.Size]byte

func hashSecret[T string | []byte](secret T) secretHash { return sha256.Sum256([]byte(secret)) }

// logins are the dashboard's: a one-time key, from `tensorcache ui`, becomes a session, which the
// browser's cookie names. They live in memory alone and end with the daemon. It is safe for
// concurrent use.
type sessionTable struct {
	now func() time.Time

	mu       sync.Mutex
	keys     map[secretHash]time.Time // until when
	sessions map[secretHash]time.Time
}

func newSessionTable() *sessionTable {
	return &sessionTable{
		now:      time.Now,
		keys:     map[secretHash]time.Time{},
		sessions: map[secretHash]time.Time{},
	}
}

// newKey makes a key that is good for one login, soon.
func (l *sessionTable) newKey() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(l.keys, keyLifetime)
}

// redeem turns a key into a session. It tells false for a key that was used, is too old or never
// was.
func (l *sessionTable) redeem(key string) (session string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashSecret(key)
	end, ok := l.keys[h]
	delete(l.keys, h)
	if !ok || !l.now().Before(end) {
		return "", false
	}
	return l.add(l.sessions, sessionLifetime), true
}

// valid tells whether a session lives, and lets it live on.
func (l *sessionTable) isValid(session []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hashSecret(session)
	end, ok := l.sessions[h]
	if !ok || !l.now().Before(end) {
		return false
	}
	l.sessions[h] = l.now().Add(sessionLifetime)
	return true
}

// add makes a secret, and drops the one that would end first where there are too many. The caller
// holds mu.
func (l *sessionTable) add(to map[secretHash]time.Time, life time.Duration) string {
	if len(to) >= maxSecrets {
		var first secretHash
		end := l.now().Add(2 * sessionLifetime)
		for h, e := range to {
			if e.Before(end) {
				first, end = h, e
			}
		}
		delete(to, first)
	}
	secret := newSecret()
	to[hashSecret(secret)] = l.now().Add(life)
	return secret
}
