// Package portable reports whether to use the functions that every Unix has, in place of better
// ones of Linux. TENSORCACHE_PORTABLE=1 enables this: rings are unlinked files instead of sealed
// memory files, space is reserved by writing, there are no pidfds, and no vector instructions
// interleave columns. It exists so that tests on Linux run the code of macOS.
package portable

import (
	"os"
	"sync"
)

// Forced reports whether the environment contains TENSORCACHE_PORTABLE=1.
var Forced = sync.OnceValue(func() bool { return os.Getenv("TENSORCACHE_PORTABLE") == "1" })
