package api

import (
	"fmt"
	"runtime"

	"github.com/dustin/go-humanize/english"
	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/machine"
	"github.com/tensorcache/tensorcache/internal/wire"
	"github.com/tensorcache/tensorcache/store"
)

var memoryRoutes = []route{
	{"GET", "/v1/machine", noArg((*Server).machine)},
	{"POST", "/v1/datasets/{name}/preload", oneArg((*Server).preload)},
	{"POST", "/v1/datasets/{name}/unload", oneArg((*Server).unload)},
	{"PUT", "/v1/datasets/{name}/pin", oneArg((*Server).pin)},
	{"DELETE", "/v1/datasets/{name}/pin", oneArg((*Server).unpin)},
}

func (s *Server) machine(ctx *fasthttp.RequestCtx) error {
	m, err := s.machineState()
	if err != nil {
		return err
	}
	return reply(ctx, 200, m)
}

// machineState returns the machine's resources and how much of them is in use.
func (s *Server) machineState() (wire.Machine, error) {
	free, total, err := machine.Disk(s.Store.Dir())
	if err != nil {
		return wire.Machine{}, err
	}
	fs, err := machine.FilesystemOf(s.Store.Dir())
	if err != nil {
		return wire.Machine{}, err
	}
	m := s.Store.Budget.Usage()
	open, maxOpen := machine.Descriptors()
	return wire.Machine{
		Memory: wire.MachineMemory{
			Total: machine.Total(), Available: machine.Available(), Limit: machine.Limit(),
			Budget: m.Budget, Resident: m.Resident, Rings: m.Rings, Loading: m.Loading,
			Pinned: m.Pinned, MemlockLimit: memlockLimit(),
		},
		Cores: runtime.GOMAXPROCS(0), Dir: s.Store.Dir(), Disk: wire.Disk{Free: free, Total: total,
			Filesystem: fs.Name}, Descriptors: wire.Descriptors{Open: open, Limit: maxOpen},
	}, nil
}

// residentBytes returns nil if the system does not tell.
func residentBytes(r store.Residency) *int64 {
	if !r.Known {
		return nil
	}
	return &r.Resident
}

// memlockLimit returns nil if there is no limit.
func memlockLimit() *int64 {
	if n, ok := machine.MemlockLimit(); ok {
		return &n
	}
	return nil
}

func (s *Server) unload(ctx *fasthttp.RequestCtx, name string) error {
	s.Jobs.WaitForChildren()
	r, readers, err := s.Store.Unload(name)
	if err != nil {
		return err
	}
	return reply(ctx, 200, wire.Unloaded{Dataset: name, Bytes: r.Bytes,
		ResidentBytes: residentBytes(r), Kept: s.residentReason(name, r, readers)})
}

// residentReason says why pages of a dataset stay in memory, as far as that is known.
func (s *Server) residentReason(name string, r store.Residency, readers int) string {
	if r.Known && r.Resident == 0 {
		return ""
	}
	fs, err := machine.FilesystemOf(s.Store.Dir())
	switch {
	case r.Pinned > 0:
		return fmt.Sprintf("it is pinned: tensorcache pin %s --off ends that", name)
	case err == nil && fs.Kind == machine.Memory:
		return fmt.Sprintf("the cache directory is on %s, whose files are memory", fs.Name)
	case readers > 0:
		return "mapped by " + english.Plural(readers, "reader", "")
	case runtime.GOOS != "linux":
		return "the system takes them when it needs the memory"
	}
	return "another process maps or reads the files, or they are not on the disk yet"
}

func (s *Server) pin(ctx *fasthttp.RequestCtx, name string) error {
	r, limited, err := s.Store.Pin(ctx, name)
	if err != nil {
		if ctx.Err() != nil { // the daemon is stopping
			err = store.ErrClosed
		}
		return err
	}
	p := pinReply(name, r)
	if limited != nil {
		p.Limited = limited.Error()
	}
	return reply(ctx, 200, p)
}

func (s *Server) unpin(ctx *fasthttp.RequestCtx, name string) error {
	r, err := s.Store.Unpin(name)
	if err != nil {
		return err
	}
	return reply(ctx, 200, pinReply(name, r))
}

func pinReply(name string, r store.Residency) wire.Pinned {
	return wire.Pinned{Dataset: name, Bytes: r.Bytes, PinnedBytes: r.Pinned,
		LimitBytes: memlockLimit()}
}
