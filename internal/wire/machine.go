package wire

// Machine answers GET /v1/machine. Sizes are bytes.
type Machine struct {
	Memory      MachineMemory `json:"memory"`
	Cores       int           `json:"cores"` // that the daemon uses
	Dir         string        `json:"dir"`
	Disk        Disk          `json:"disk"`
	Descriptors Descriptors   `json:"descriptors"`
}

// MachineMemory is what memory there is and what the daemon takes of its budget.
type MachineMemory struct {
	Total     int64 `json:"total"`
	Available int64 `json:"available"` // before the system or a control group ends somebody
	Limit     int64 `json:"limit"`     // that of the control groups, else total
	Budget    int64 `json:"budget"`    // for datasets and rings together
	Resident  int64 `json:"resident"`  // of all datasets, in all generations that are held
	Rings     int64 `json:"rings"`
	Loading   int64 `json:"loading"` // that loads under way are going to take
	Pinned    int64 `json:"pinned"`
	// MemlockLimit is how much may be pinned; nil where nothing bounds it.
	MemlockLimit *int64 `json:"memlock_limit"`
}

// Disk is the cache directory's file system.
type Disk struct {
	Free       int64  `json:"free"`
	Total      int64  `json:"total"`
	Filesystem string `json:"filesystem"` // "" where it is not known
}

// Descriptors are those of the daemon.
type Descriptors struct {
	Open  int64 `json:"open"` // -1 where that is not told
	Limit int64 `json:"limit"`
}

// Unloaded answers POST /v1/datasets/{name}/unload.
type Unloaded struct {
	Dataset       string `json:"dataset"`
	Bytes         int64  `json:"bytes"`
	ResidentBytes *int64 `json:"resident_bytes"`
	Kept          string `json:"kept"` // why some stay in memory, "" where none does
}

// Pinned answers PUT and DELETE /v1/datasets/{name}/pin.
type Pinned struct {
	Dataset     string `json:"dataset"`
	Bytes       int64  `json:"bytes"`
	PinnedBytes int64  `json:"pinned_bytes"`
	LimitBytes  *int64 `json:"limit_bytes"` // nil where nothing bounds it
	Limited     string `json:"limited"`     // why not all is pinned, "" where it is
}
