package wire

import (
	"time"

	"github.com/tensorcache/tensorcache/internal/origin"
	"github.com/tensorcache/tensorcache/layout"
)

// Daemon is the content of daemon.json: where a running daemon listens.
type Daemon struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Protocols
	Control string `json:"control"`
	Feed    string `json:"feed"`
	// HTTP is host:port if the daemon also serves the control API over TCP.
	HTTP    string    `json:"http,omitempty"`
	Started time.Time `json:"started"`
}

// Health answers GET /v1/health.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Protocols
	PID     int     `json:"pid"`
	Dir     string  `json:"dir"`
	UptimeS float64 `json:"uptime_s"`
}

// Ready answers GET /v1/ready.
type Ready struct {
	Status string `json:"status"`
}

// Dataset is a dataset in a list. The answer for one dataset adds Manifest and Generations.
type Dataset struct {
	Dataset    string    `json:"dataset"`
	Generation int64     `json:"generation"`
	Digest     string    `json:"digest"`
	Rows       int64     `json:"rows"`
	Items      int64     `json:"items"`
	Columns    []string  `json:"columns"`
	Layout     string    `json:"layout"`
	Bytes      int64     `json:"bytes"`
	Created    time.Time `json:"created"`
	Readers    int       `json:"readers"`
	// ResidentBytes is the part of Bytes that is in memory, for whatever reason. It is nil if the
	// system does not report it.
	ResidentBytes *int64 `json:"resident_bytes"`
	// PinnedBytes is the part of Bytes that is locked in memory.
	PinnedBytes int64 `json:"pinned_bytes"`
	// DerivedBytes is the size of the derived files, such as group tables. Bytes leaves them out.
	DerivedBytes int64 `json:"derived_bytes"`
	// ScaledOf is the dataset of which this one is a scaled copy.
	ScaledOf    string           `json:"scaled_of,omitempty"`
	Manifest    *layout.Manifest `json:"manifest,omitempty"`
	Generations []int64          `json:"generations,omitempty"`
}

// Datasets answers GET /v1/datasets.
type Datasets struct {
	Datasets []Dataset `json:"datasets"`
	// the key that the next page follows, nil on the last page; the same in every list
	Next *string `json:"next"`
}

// Page returns the entries of the page and the key that the next page follows.
func (p Datasets) Page() ([]Dataset, *string) { return p.Datasets, p.Next }

// Removed answers DELETE /v1/datasets/{name}.
type Removed struct {
	Dataset string  `json:"dataset"`
	Removed []int64 `json:"removed"`
	// Copies are the scaled copies of the dataset, which were removed too.
	Copies []string `json:"copies,omitempty"`
}

// States of a job.
const (
	JobQueued    = "queued" // waits for cores that other jobs use; starts without a request
	JobRunning   = "running"
	JobDone      = "done"
	JobFailedIn  = "failed"
	JobCancelled = "cancelled"
)

// Kinds of jobs.
const (
	LoadJob    = "load"
	AppendJob  = "append"
	PutJob     = "put"
	VerifyJob  = "verify"
	PreloadJob = "preload"
	ScaleJob   = "scale"
)

// Job is a load or other work on a dataset, as clients see it. Bytes counts bytes of the sources; in a
// verify job, bytes of the dataset; in a scale job, bytes of the copy.
type Job struct {
	Job        string `json:"job"`
	Kind       string `json:"kind"`
	State      string `json:"state"`
	Dataset    string `json:"dataset"`
	Phase      string `json:"phase"`
	Rows       int64  `json:"rows"`
	RowsTotal  int64  `json:"rows_total"`
	Bytes      int64  `json:"bytes"`
	BytesTotal int64  `json:"bytes_total"`
	// Progress is the finished part of the whole work, over all phases, from 0 to 1. It never
	// decreases.
	Progress float64 `json:"progress"`
	// EtaS is the estimated remaining time in seconds, from the mean speed so far. It is nil if
	// unknown, and when the job has ended.
	EtaS *float64 `json:"eta_s"`
	// Cores is the number of cores that the load may use now.
	Cores      int     `json:"cores"`
	Generation int64   `json:"generation"`
	Digest     string  `json:"digest"`
	Hit        bool    `json:"hit"`
	Seconds    float64 `json:"seconds"`
	// DTypeError is the largest conversion error of each column whose floats were stored in a
	// narrower dtype.
	DTypeError map[string]layout.DTypeError `json:"dtype_error,omitempty"`
	// Notes say what a load assumed or left out.
	Notes []layout.Note `json:"notes,omitempty"`
	Error *Problem      `json:"error"`
	// Owner is set only in the answer to a load request. A DELETE with it cancels the load for this
	// client only.
	Owner string `json:"owner,omitempty"`
}

// Ended reports whether the job has reached its last state.
func (j Job) Ended() bool { return j.State != JobQueued && j.State != JobRunning }

// Append is the body of POST /v1/datasets/{name}/append.
type Append struct {
	Sources     []string `json:"sources"`
	HashSources bool     `json:"hash_sources,omitempty"`
	// Origins are set if the sources are files that a client staged: one for each file.
	Origins origin.Files `json:"origins,omitempty"`
}

// Scaled is the body of POST /v1/datasets/{name}/scaled: the rows of the windows' part are those that
// the scaling is fitted to.
type Scaled struct {
	Selection
	Scale    string   `json:"scale"`     // standard, minmax, robust or maxabs
	ScalePer string   `json:"scale_per"` // column or item; "" is column
	Columns  []string `json:"columns"`   // nil is all columns of numbers that windows have by default
}

// MissingRanges answers POST /v1/datasets/{name}/ranges.
type MissingRanges struct {
	// Hit states that the newest generation was made from these remote files in this way. Then
	// Generation is its number, and nothing is missing.
	Hit        bool  `json:"hit"`
	Generation int64 `json:"generation"`
	// Missing are the bytes that a load reads and that are not staged, as far as is known.
	Missing []origin.Missing `json:"missing"`
}

// Verify is the body of POST /v1/datasets/{name}/verify.
type Verify struct {
	Generation int64 `json:"generation"` // 0 is the newest
}

// Jobs answers GET /v1/jobs.
type Jobs struct {
	Jobs []Job   `json:"jobs"`
	Next *string `json:"next"`
}

// Page returns the entries of the page and the key that the next page follows.
func (p Jobs) Page() ([]Job, *string) { return p.Jobs, p.Next }

// Feed is a feed as clients see it. Each side measures its waiting time with its own clock.
// WaitTrainerS is how long the daemon waited for the trainer, in the Seconds since the trainer
// attached. WaitDataS is how long the trainer waited for data, in the PassS seconds inside its
// passes.
type Feed struct {
	Feed             string  `json:"feed"`
	Dataset          string  `json:"dataset"`
	Generation       int64   `json:"generation"`
	PID              int     `json:"pid"`
	Client           string  `json:"client"` // name/version, as the client reports it
	Delivery         string  `json:"delivery"`
	Path             string  `json:"path"`
	Batches          int64   `json:"batches"`
	ServedWindows    int64   `json:"served_windows"` // windows in those batches
	Slots            int     `json:"slots"`
	SlotBytes        int64   `json:"slot_bytes"`
	Epoch            uint64  `json:"epoch"`
	Consumed         int64   `json:"consumed"`
	Seconds          float64 `json:"seconds"`
	WaitTrainerS     float64 `json:"wait_trainer_s"`
	WaitTrainerShare float64 `json:"wait_trainer_share"`
	PassS            float64 `json:"pass_s"`
	WaitDataS        float64 `json:"wait_data_s"`
	WaitDataShare    float64 `json:"wait_data_share"`
	Verdict          string  `json:"verdict"`
}

// Feeds answers GET /v1/feeds.
type Feeds struct {
	Feeds []Feed  `json:"feeds"`
	Next  *string `json:"next"`
}

// Page returns the entries of the page and the key that the next page follows.
func (p Feeds) Page() ([]Feed, *string) { return p.Feeds, p.Next }

// UI answers POST /v1/ui.
type UI struct {
	URL string `json:"url"`
}

// StopRequest is the body of POST /v1/stop. The body is optional.
type StopRequest struct {
	WhenIdle bool `json:"when_idle"`
}

// Stopping answers POST /v1/stop. With when_idle, the daemon waits for these Feeds and Jobs to end.
type Stopping struct {
	PID   int `json:"pid"`
	Feeds int `json:"feeds"`
	Jobs  int `json:"jobs"`
}
