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

// secretBytes is the size of every secret: the token, one-time keys and sessions.
const secretBytes = 32

// ErrToken is returned if others than the owner could have read or written the token's file.
var ErrToken = errors.New("the token cannot be trusted")

// HintToken is the hint for ErrToken.
const HintToken = "remove that file: the next start over TCP makes a new one"

// newSecret returns 256 random bits in hexadecimal digits.
func newSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// readToken returns the token of a cache directory. It makes the token if there is none.
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

// checkToken reads the file of a token. It refuses a file that others than its owner could access.
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
