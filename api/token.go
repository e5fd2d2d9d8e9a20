package api

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TokenFile is the file in the cache directory that holds the token of the control API over TCP.
const TokenFile = "token"

// secretBytes is the size of every secret: token, one-time key, session.
const secretBytes = 32

// ErrToken is returned when the file of the token is not one that only its owner could have read or
// written.
var ErrToken = errors.New("the token cannot be trusted")

// HintToken is what to do about ErrToken.
const HintToken = "remove that file: the next start over TCP makes a new one"

// newSecret is text of 256 random bits.
func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// readToken gives the token of a cache directory, and makes it where there is none.
func readToken(dir string) (string, error) {
	path := filepath.Join(dir, TokenFile)
	token, err := checkToken(path)
	if !errors.Is(err, os.ErrNotExist) {
		return token, err
	}
	token = newSecret()
	f, err := os.CreateTemp(filepath.Join(dir, "tmp"), TokenFile) // 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return token, nil
}

// checkToken reads a token's file unless others than its owner could.
func checkToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", fmt.Errorf("%w: %s is a link, want a file", ErrToken, path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	if !st.Mode().IsRegular() || st.Mode().Perm()&0o077 != 0 || !ok ||
		int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%w: %s is %s of user %d, want a file with mode 0600 of user %d",
			ErrToken, path, st.Mode(), owner.Uid, os.Geteuid())
	}
	b, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != secretBytes {
		return "", fmt.Errorf("%w: %s does not hold %d hexadecimal digits", ErrToken, path,
			2*secretBytes)
	}
	return token, nil
}
