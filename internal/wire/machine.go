package wire

// Machine answers GET /v1/machine. Sizes are in bytes.
type Machine struct {
	Memory      MachineMemory `json:"memory"`
	Cores       int           `json:"cores"` // that the daemon uses
	Dir         string        `json:"dir"`
	Disk        Disk          `json:"disk"`
	Descriptors Descriptors   `json:"descriptors"`
}

// MachineMemory is the memory of the machine, and how much of it the daemon may use and uses.
type MachineMemory struct {
	Total     int64 `json:"total"`
	Available int64 `json:"available"` // before the system or a control group ends a process
	Limit     int64 `json:"limit"`     // of the control groups, else Total
	Budget    int64 `json:"budget"`    // of the daemon, for datasets and rings together
	Resident  int64 `json:"resident"`  // of all generations, also removed ones that are still read
	Rings     int64 `json:"rings"`
	Loading   int64 `json:"loading"` // that running loads may need
	Pinned    int64 `json:"pinned"`
	// MemlockLimit is the limit of pinned memory; nil if there is none.
	MemlockLimit *int64 `json:"memlock_limit"`
}

// Disk is the cache directory's file system.
type Disk struct {
	Free       int64  `json:"free"`
	Total      int64  `json:"total"`
	Filesystem string `json:"filesystem"` // "" if unknown
}

// Descriptors are the open file descriptors of the daemon.
type Descriptors struct {
	Open  int64 `json:"open"` // -1 if unknown
	Limit int64 `json:"limit"`
}

// Unloaded answers POST /v1/datasets/{name}/unload.
type Unloaded struct {
	Dataset       string `json:"dataset"`
	Bytes         int64  `json:"bytes"`
	ResidentBytes *int64 `json:"resident_bytes"`
	Kept          string `json:"kept"` // why some bytes stay in memory, "" if none do
}

// Pinned answers PUT and DELETE /v1/datasets/{name}/pin.
type Pinned struct {
	Dataset     string `json:"dataset"`
	Bytes       int64  `json:"bytes"`
	PinnedBytes int64  `json:"pinned_bytes"`
	LimitBytes  *int64 `json:"limit_bytes"` // nil if there is no limit
	Limited     string `json:"limited"`     // why not all bytes are pinned, "" if they are
}
