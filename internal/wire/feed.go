package wire

import (
	"encoding/json"

	"github.com/tensorcache/tensorcache/layout"
	"github.com/tensorcache/tensorcache/sampler"
	"github.com/tensorcache/tensorcache/window"
)

// Hello is what every REQUEST has.
type Hello struct {
	Protocol int    `json:"protocol"`
	Client   string `json:"client"`
	Request  string `json:"request"`
}

// OpenRequest asks for a dataset's files and a lease on them.
type OpenRequest struct {
	Hello
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
}

// OpenReply comes with one descriptor per file.
type OpenReply struct {
	Protocol   int              `json:"protocol"`
	Version    string           `json:"version"`
	Dataset    string           `json:"dataset"`
	Generation int64            `json:"generation"`
	Digest     string           `json:"digest"`
	Manifest   *layout.Manifest `json:"manifest"`
	Files      []string         `json:"files"`
}

// Cut is a window cut whose items are values, not numbers.
type Cut = json.RawMessage

// FeedRequest attaches a trainer.
type FeedRequest struct {
	Hello
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	// refused when the generation is another one; "" is any
	Digest        string          `json:"digest"`
	Spec          json.RawMessage `json:"spec"`
	Cuts          []Cut           `json:"cuts"`
	Options       sampler.Options `json:"options"`
	Delivery      string          `json:"delivery"`
	Views         bool            `json:"views"` // the client takes views, so auto may choose them
	Slots         int             `json:"slots"`
	ChannelsFirst bool            `json:"channels_first"`
	Mask          bool            `json:"mask"`
	// the client takes descriptors from the ring's memory and gives credits there
	Queue  bool            `json:"queue"`
	Cursor json.RawMessage `json:"cursor"`
	// the client goes on with another daemon, should this one leave
	Reconnect bool `json:"reconnect,omitempty"`
	// the client's feed that this one comes in place of; refused where that has ended
	Instead string `json:"instead,omitempty"`
}

// Queue says where in the ring's memory descriptors come and credits go.
type Queue struct {
	Offset      int64 `json:"offset"`
	Descriptors int   `json:"descriptors"`
}

// FeedReply comes with one descriptor, the ring.
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
}

// Part is one array of a slot.
type Part struct {
	Name   string       `json:"name"`
	DType  layout.DType `json:"dtype"`
	Shape  []int64      `json:"shape"`
	Offset int64        `json:"offset"`
}

// Features names the features of each part.
type Features struct {
	Context []string `json:"context"`
	Target  []string `json:"target"`
	Known   []string `json:"known"`
	Static  []string `json:"static"`
}

// PutRequest sends arrays, or an Arrow stream.
type PutRequest struct {
	Hello
	Dataset string          `json:"dataset"`
	Options json.RawMessage `json:"options"`
	Format  string          `json:"format"`
	Columns json.RawMessage `json:"columns"`
	// Append puts the rows behind those of the dataset, with its options; there are no others then.
	Append bool `json:"append,omitempty"`
}

// PutReply tells what a put became.
type PutReply struct {
	Protocol   int    `json:"protocol"`
	Dataset    string `json:"dataset"`
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	Rows       int64  `json:"rows"`
	// DTypeError is as in [Job].
	DTypeError map[string]layout.DTypeError `json:"dtype_error,omitempty"`
}

// Selection names windows: those of a generation, 0 being the newest, under a spec and cuts. With a
// digest, another generation is refused.
type Selection struct {
	Generation int64           `json:"generation"`
	Digest     string          `json:"digest"`
	Spec       json.RawMessage `json:"spec"`
	Cuts       []Cut           `json:"cuts"`
}

// Parts names windows, and a way to split them.
type Parts struct {
	Selection
	Split json.RawMessage `json:"split"`
}

// PlanRequest asks which windows exist.
type PlanRequest struct {
	Parts
	Options       *sampler.Options `json:"options"`
	ChannelsFirst bool             `json:"channels_first"`
	Mask          bool             `json:"mask"`
	PerItem       *[2]int64        `json:"per_item"` // items [from, to) whose counts are wanted
}

// PlanReply says which windows exist, and why others do not.
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
	Splits     []SplitPlan             `json:"splits,omitempty"`
	PerItem    []ItemPlan              `json:"per_item,omitempty"`
	*BatchPlan
}

// ItemPlan counts the windows of one item.
type ItemPlan struct {
	Item    any   `json:"item"`
	Windows int64 `json:"windows"`
}

// SplitPlan is one part of a split; Cut is what to append to the cuts to get it.
type SplitPlan struct {
	Name      string                  `json:"name"`
	Windows   int64                   `json:"windows"`
	Positions int64                   `json:"positions"`
	Rejected  map[window.Reason]int64 `json:"rejected"`
	Cut       any                     `json:"cut"`
}

// BatchPlan says what an epoch of batches is.
type BatchPlan struct {
	Batches    int64      `json:"batches"`
	LastBatch  int64      `json:"last_batch"`
	BatchBytes int64      `json:"batch_bytes"`
	Ranks      []RankPlan `json:"ranks"`
}

// RankPlan is a rank's share of an epoch.
type RankPlan struct {
	Rank    int64 `json:"rank"`
	Windows int64 `json:"windows"`
	Batches int64 `json:"batches"`
}

// WindowPlace says where a window is: its item's value, its first row in the item and that row's
// time.
type WindowPlace struct {
	Item  any   `json:"item"`
	Start int64 `json:"start"`
	Time  any   `json:"time"`
}

// Words of the queue, each of 8 bytes, by their index from the queue's offset. Behind them are the
// descriptors, each of DescriptorSize bytes, and then a word for each slot, for credits. Words that
// different sides write are in cache lines of their own. docs/PROTOCOL.md describes the queue.
const (
	QueueSent   = 0  // descriptors that the daemon has sent
	QueueAsleep = 1  // 1 while the daemon waits on the socket
	QueueGiven  = 8  // credits that the client has given
	QueueRead   = 9  // descriptors that the client has read
	QueueFirst  = 16 // the first descriptor
)
