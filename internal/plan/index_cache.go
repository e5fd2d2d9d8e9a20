package plan

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/tensorcache/tensorcache/internal/calendar"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// maxCachedBytes bounds the memory of the indexes that are cached with a generation. The newest is
// cached whatever it takes (32 bytes a run), because every rank
// usually attaches a feed for it soon after the plan.
const maxCachedBytes = 128 << 20

// indexCache is the indexes of a generation that were used last.
type indexCache struct {
	mu    sync.Mutex
	bytes int64
	lru   *simplelru.LRU[string, cachedIndex]
}

// cachedIndex is an index, with what costs a pass over its items.
type cachedIndex struct {
	*window.Index
	knownAfter *calendar.Ends // see [Windows.KnownAfter]
}

func newIndexCache() (*indexCache, error) {
	k := &indexCache{}
	lru, err := simplelru.NewLRU(1<<20,
		func(key string, x cachedIndex) { k.bytes -= cachedBytes(key, x) })
	k.lru = lru
	return k, err
}

// cachedBytes estimates the memory of a cached index: the index, its key, and the items that its
// cuts name. Each of these takes two numbers of 8 bytes, and at least two characters of the key.
func cachedBytes(key string, x cachedIndex) int64 { return x.Bytes() + 9*int64(len(key)) }

func (k *indexCache) get(key string) (cachedIndex, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lru.Get(key)
}

func (k *indexCache) add(key string, x cachedIndex) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lru.Remove(key)
	k.lru.Add(key, x)
	for k.bytes += cachedBytes(key, x); k.bytes > maxCachedBytes && k.lru.Len() > 1; {
		k.lru.RemoveOldest()
	}
}

// indexOf returns the index of a spec and cuts, from the cache if it is there: to count missing
// values and steps in time costs a pass over the rows.
func (w *Windows) indexOf(h *store.Handle, spec window.Spec, t window.Table,
	cuts []wire.Cut) (cachedIndex, error) {
	cached, err := h.Derived("indexes", func() (any, error) { return newIndexCache() })
	if err != nil {
		return cachedIndex{}, err
	}
	indexes := cached.(*indexCache)
	key, err := indexKey(spec, cuts)
	if err != nil {
		return cachedIndex{}, err
	}
	if x, ok := indexes.get(key); ok {
		return x, nil
	}
	resolved, err := resolveCuts(h, cuts)
	if err != nil {
		return cachedIndex{}, err
	}
	index, err := window.Apply(spec, t, resolved)
	if err != nil {
		return cachedIndex{}, err
	}
	x := cachedIndex{Index: index}
	if x.knownAfter, err = w.findKnownAfter(h, index, &t); err != nil {
		return cachedIndex{}, err
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
