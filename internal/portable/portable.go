// Package portable tells whether the ways that every Unix has are to be used where Linux has better
// ones. TENSORCACHE_PORTABLE=1 forces them: rings in unlinked files instead of sealed memory files,
// space reserved by writing, no pidfds, columns interleaved without vector instructions. It exists
// so that the macOS paths are tested on Linux.
package portable

import (
	"os"
	"sync"
)

// Forced tells whether TENSORCACHE_PORTABLE=1 stands in the environment.
var Forced = sync.OnceValue(func() bool { return os.Getenv("TENSORCACHE_PORTABLE") == "1" })
