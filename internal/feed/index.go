package feed

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// keptBytes bounds the memory of the indexes kept with a generation beside the newest, which is
// kept whatever it takes (32 bytes a run): what was planned is soon fed, by every rank.
const keptBytes = 128 << 20

// indexes are those kept with a generation, the ones used last.
type indexes struct {
	mu    sync.Mutex
	bytes int64
	lru   *simplelru.LRU[string, *window.Index]
}

func newIndexes() (*indexes, error) {
	k := &indexes{}
	lru, err := simplelru.NewLRU(1<<20,
		func(key string, x *window.Index) { k.bytes -= keeps(key, x) })
	k.lru = lru
	return k, err
}

// keeps is about the memory that keeping an index takes: its own, its key, and the items that its
// cuts name, two numbers of 8 bytes for each, which take two letters of the key at least.
func keeps(key string, x *window.Index) int64 { return x.Bytes() + 9*int64(len(key)) }

func (k *indexes) get(key string) (*window.Index, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lru.Get(key)
}

func (k *indexes) add(key string, x *window.Index) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lru.Remove(key)
	k.lru.Add(key, x)
	for k.bytes += keeps(key, x); k.bytes > keptBytes && k.lru.Len() > 1; {
		k.lru.RemoveOldest()
	}
}

// indexOf builds the index of a spec and cuts, or finds it again: counting missing values and jumps
// in time costs a pass over the rows.
func indexOf(h *store.Handle, spec window.Spec, t window.Table,
	cuts []wire.Cut) (*window.Index, error) {
	kept, err := h.Derived("indexes", func() (any, error) { return newIndexes() })
	if err != nil {
		return nil, err
	}
	indexes := kept.(*indexes)
	key, err := indexKey(spec, cuts)
	if err != nil {
		return nil, err
	}
	if x, ok := indexes.get(key); ok {
		return x, nil
	}
	resolved, err := resolveCuts(h, cuts)
	if err != nil {
		return nil, err
	}
	x, err := window.Apply(spec, t, resolved)
	if err != nil {
		return nil, err
	}
	indexes.add(key, x)
	return x, nil
}

func indexKey(spec window.Spec, cuts []wire.Cut) (string, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	return string(append(append(key, '\n'), bytes.Join(rawCuts(cuts), []byte("\n"))...)), nil
}

func rawCuts(cuts []wire.Cut) [][]byte {
	out := make([][]byte, len(cuts))
	for i, c := range cuts {
		out[i] = c
	}
	return out
}
