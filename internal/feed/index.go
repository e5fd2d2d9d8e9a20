package feed

import (
	"bytes"
	"encoding/json"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
	"github.com/tensorcache/tensorcache/window"
)

// How many indexes are kept with a generation, and how many runs (of 24 bytes) one of them may have.
const (
	keptIndexes = 16
	keptRuns    = 4 << 20
)

// indexOf builds the index of a spec and cuts, or finds it again: counting missing values and jumps in time costs a
// pass over the rows.
func indexOf(h *store.Handle, spec window.Spec, t window.Table, cuts []wire.Cut) (*window.Index, error) {
	kept, err := h.Derived("indexes", func() (any, error) { return lru.New[string, *window.Index](keptIndexes) })
	if err != nil {
		return nil, err
	}
	indexes := kept.(*lru.Cache[string, *window.Index])
	key, err := indexKey(spec, cuts)
	if err != nil {
		return nil, err
	}
	if x, ok := indexes.Get(key); ok {
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
	if x.RunCount() <= keptRuns {
		indexes.Add(key, x)
	}
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
