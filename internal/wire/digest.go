package wire

import "regexp"

var digest = regexp.MustCompile("^[0-9a-f]{32}$")

// CheckDigest returns a problem if a digest does not have the form that those of datasets have.
func CheckDigest(d string) error {
	if digest.MatchString(d) {
		return nil
	}
	return NewProblem(InvalidRequest, "digest: got %q, want 32 hex digits in lower case", d).WithField("digest")
}
