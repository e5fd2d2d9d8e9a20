package wire

import (
	"encoding/json"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// RequestHeader contains the fields that every REQUEST has. Protocols are those of the client. The
// reply names the newest one that the daemon speaks too, and the connection goes on with it.
type RequestHeader struct {
	Protocols
	Client  string `json:"client"`
	Request string `json:"request"`
}

// Protocol returns the version of the protocol that the daemon answers in, which is also the
// connection's. It returns 0 if this program speaks none of the client's.
func (h RequestHeader) Protocol() int {
	version, _ := OwnProtocols.Common(h.Protocols)
	return version
}

// OpenRequest asks for the files of a dataset and a lease on them. Generation and Digest are those of a
// Selection.
type OpenRequest struct {
	RequestHeader
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	Digest     string `json:"digest,omitempty"`
}

// OpenReply is sent with one file descriptor for each file.
type OpenReply struct {
	Protocol   int              `json:"protocol"`
	Version    string           `json:"version"`
	Dataset    string           `json:"dataset"`
	Generation int64            `json:"generation"`
	Digest     string           `json:"digest"`
	Manifest   *layout.Manifest `json:"manifest"`
	Files      []string         `json:"files"`
}

// Cut is a cut as clients write it: items are values, not codes.
type Cut = json.RawMessage

// FeedRequest attaches a trainer.
type FeedRequest struct {
	RequestHeader
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	// Digest is that of a Selection.
	Digest   string          `json:"digest"`
	Spec     json.RawMessage `json:"spec"`
	Cuts     []Cut           `json:"cuts"`
	Options  sampler.Options `json:"options"`
	Delivery string          `json:"delivery"`
	// the client supports views, so auto may choose them
	Views         bool `json:"views"`
	Slots         int  `json:"slots"`
	ChannelsFirst bool `json:"channels_first"`
	Mask          bool `json:"mask"`
	// Parts are the parts that batches have beside their places, in this order. If it is null, they are
	// those of the spec; if it is empty, there are none. With it, Mask must be false.
	Parts []PartRequest `json:"parts,omitzero"`
	// Queue asks for descriptors and credits in the ring's memory.
	Queue  bool            `json:"queue"`
	Cursor json.RawMessage `json:"cursor"`
	// Reconnect declares that the client continues with another daemon if this one stops.
	Reconnect bool `json:"reconnect,omitempty"`
	// Instead is the client's own feed that this one replaces. The daemon refuses the request if
	// that feed has ended.
	Instead string `json:"instead,omitempty"`
}

// PartRequest asks for a part of windows, or for some of its columns.
type PartRequest struct {
	// Name is that of the part in batches.
	Name string `json:"name"`
	// Part is context, target, known, known_context, known_target, static, mask, or one of the masks of
	// values: observed, target_observed, context_missing, target_missing. Only the part mask has the
	// name mask.
	Part string `json:"part"`
	// Columns are columns of the part. If it is null, they are all of them.
	Columns []string `json:"columns,omitzero"`
	// DType is float32, float64, int32, int64 or the dtype in which all columns are stored. "" is the
	// dtype of the spec. It must be "" for masks.
	DType string `json:"dtype,omitempty"`
}

// Queue is the place of the queue of descriptors and credits in the ring's memory.
type Queue struct {
	Offset      int64 `json:"offset"`
	Descriptors int   `json:"descriptors"`
}

// FeedReply is sent with one file descriptor: the ring's.
type FeedReply struct {
	Protocol   int            `json:"protocol"`
	Version    string         `json:"version"`
	Feed       string         `json:"feed"`
	Dataset    string         `json:"dataset"`
	Generation int64          `json:"generation"`
	Digest     string         `json:"digest"`
	Delivery   string         `json:"delivery"`
	Path       string         `json:"path"`
	Slots      int            `json:"slots"`
	SlotBytes  int64          `json:"slot_bytes"`
	Parts      []Part         `json:"parts"`
	Windows    int64          `json:"windows"`
	Batches    int64          `json:"batches"`
	Stream     uint32         `json:"stream"`
	Cursor     sampler.Cursor `json:"cursor"`
	Queue      *Queue         `json:"queue,omitempty"`
	Features   Features       `json:"features"`
	Warnings   []Warning      `json:"warnings,omitempty"`
}

// Warning is something about a request that can be done and may not be meant.
type Warning = layout.Note

// Part is one array of a slot.
type Part struct {
	Name   string       `json:"name"`
	DType  layout.DType `json:"dtype"`
	Shape  []int64      `json:"shape"`
	Offset int64        `json:"offset"`
}

// Features are the names of the features of each part.
type Features struct {
	Context []string `json:"context"`
	Target  []string `json:"target"`
	Known   []string `json:"known"`
	Static  []string `json:"static"`
}

// PutRequest sends arrays, or an Arrow stream.
type PutRequest struct {
	RequestHeader
	Dataset string          `json:"dataset"`
	Options json.RawMessage `json:"options"`
	Format  string          `json:"format"`
	Columns json.RawMessage `json:"columns"`
	// Append adds the rows after those of the dataset, with the options of the dataset. Options
	// must be empty then.
	Append bool `json:"append,omitempty"`
}

// PutReply is the generation with the values.
type PutReply struct {
	Protocol   int    `json:"protocol"`
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	Rows       int64  `json:"rows"`
	// Hit is true if the newest generation was equal, so that nothing was published.
	Hit bool `json:"hit"`
	// DTypeError and Notes are those of [Job].
	DTypeError map[string]layout.DTypeError `json:"dtype_error,omitempty"`
	Notes      []layout.Note                `json:"notes,omitempty"`
}

// Selection identifies windows: those of a generation under a spec and cuts. Generation 0 is the newest
// one that has the Digest, or the newest of all if Digest is empty. If both are given and the generation
// has another digest, the daemon refuses the request.
type Selection struct {
	Generation int64           `json:"generation"`
	Digest     string          `json:"digest"`
	Spec       json.RawMessage `json:"spec"`
	Cuts       []Cut           `json:"cuts"`
}

// SplitSelection is a selection of windows and a split of it.
type SplitSelection struct {
	Selection
	Split json.RawMessage `json:"split"`
}

// PlanRequest asks which windows exist.
type PlanRequest struct {
	SplitSelection
	Options       *sampler.Options `json:"options"`
	ChannelsFirst bool             `json:"channels_first"`
	Mask          bool             `json:"mask"`
	Parts         []PartRequest    `json:"parts,omitzero"` // as in FeedRequest, for path and batch_bytes
	PerItem       *[2]int64        `json:"per_item"`       // the items [from, to) whose windows to count
}

// PlanReply reports which windows exist, and why the other positions are not windows.
type PlanReply struct {
	Dataset    string                  `json:"dataset"`
	Generation int64                   `json:"generation"`
	Digest     string                  `json:"digest"`
	Windows    int64                   `json:"windows"`
	Items      int64                   `json:"items"`
	Positions  int64                   `json:"positions"`
	Rejected   map[window.Reason]int64 `json:"rejected"`
	First      *WindowPlace            `json:"first"`
	Last       *WindowPlace            `json:"last"`
	Path       string                  `json:"path"`
	Features   Features                `json:"features"`
	DType      string                  `json:"dtype"`
	// ComputesKnown is true if windows of latest have known rows after the end of their item, which the
	// daemon computes.
	ComputesKnown bool               `json:"computes_known,omitempty"`
	Time          *window.TimeBounds `json:"time,omitempty"` // of the spec, as instants
	Splits        []SplitPlan        `json:"splits,omitempty"`
	PerItem       []ItemPlan         `json:"per_item,omitempty"`
	Warnings      []Warning          `json:"warnings,omitempty"`
	*BatchPlan
}

// ItemPlan counts the windows of one item.
type ItemPlan struct {
	Item    any   `json:"item"`
	Windows int64 `json:"windows"`
}

// SplitPlan is one part of a split. Append Cut to the cuts to select the part.
type SplitPlan struct {
	Name      string                  `json:"name"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
	Cut       any                     `json:"cut"`
}

// BatchPlan describes the batches of an epoch.
type BatchPlan struct {
	Batches    int64      `json:"batches"`
	LastBatch  int64      `json:"last_batch"`
	BatchBytes int64      `json:"batch_bytes"`
	Ranks      []RankPlan `json:"ranks"`
	Groups     *GroupPlan `json:"groups,omitempty"` // of an order of groups
}

// GroupPlan describes the groups of an epoch.
type GroupPlan struct {
	Groups         int64 `json:"groups"`  // that are visited
	Dropped        int64 `json:"dropped"` // groups with fewer windows than min_items
	DroppedWindows int64 `json:"dropped_windows"`
	// Least, Median and Greatest are of the numbers of windows of the visited groups.
	Least    int64   `json:"least"`
	Median   float64 `json:"median"`
	Greatest int64   `json:"greatest"`
	Items    int64   `json:"items"`   // items that have windows
	Warning  string  `json:"warning"` // why groups are smaller than one may expect, or ""
}

// RankPlan is a rank's share of an epoch.
type RankPlan struct {
	Rank    int64 `json:"rank"`
	Windows int64 `json:"windows"`
	Batches int64 `json:"batches"`
}

// WindowPlace is the place of a window: the value of its item, its first row in the item, and the
// time of that row.
type WindowPlace struct {
	Item  any   `json:"item"`
	Start int64 `json:"start"`
	Time  any   `json:"time"`
}

// Indexes of the words of the queue, from the queue's offset. A word has 8 bytes. The words are
// followed by the descriptors, each of DescriptorSize bytes, and then by the credits, a word for
// each slot. The daemon and the client write to different cache lines. docs/PROTOCOL.md describes
// the queue.
const (
	QueueSent   = 0  // number of descriptors that the daemon has sent
	QueueAsleep = 1  // 1 while the daemon waits on the socket
	QueueGiven  = 8  // number of credits that the client has given
	QueueRead   = 9  // number of descriptors that the client has read
	QueueFirst  = 16 // the first descriptor
)
