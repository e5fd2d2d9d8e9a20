package api

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Lifetimes of one-time keys until their use and of sessions until their next request, and the
// maximum number of each.
const (
	keyLifetime     = time.Minute
	sessionLifetime = 12 * time.Hour
	maxSecrets      = 64
)

// secretHash is the SHA-256 of a secret. Secrets are looked up by it, so that the time of a lookup
// reveals nothing about them.
type secretHash [sha256.Size]byte

func hashSecret[T string | []byte](secret T) secretHash { return sha256.Sum256([]byte(secret)) }

// sessionTable holds the dashboard's one-time keys, which `tensorcache ui` shows, and its sessions,
// which a browser's cookie names. A key can be redeemed for a session. Both are in memory only and
// end with the daemon. It is safe for concurrent use.
type sessionTable struct {
	now func() time.Time

	mu       sync.Mutex
	keys     map[secretHash]time.Time // expiry times
	sessions map[secretHash]time.Time
}

func newSessionTable() *sessionTable {
	return &sessionTable{
		now:      time.Now,
		keys:     map[secretHash]time.Time{},
		sessions: map[secretHash]time.Time{},
	}
}

// newKey returns a new key for one login.
func (l *sessionTable) newKey() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(l.keys, keyLifetime)
}

// redeem exchanges a key for a session. It returns false if the key was used, has expired or is
// unknown.
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

// isValid reports whether a session exists, and extends it.
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

// add adds a secret. At the limit it removes the one that expires first. The caller holds mu.
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
