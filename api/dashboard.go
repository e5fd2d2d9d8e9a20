package api

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// dashboardFiles are the page, its modules and styles, and uPlot, which draws the charts.
//
//go:embed dashboard
var dashboardFiles embed.FS

const homeFile = "index.html"

var dashboardRoutes = []route{
	{"GET", "/", noArg((*Server).home)},
	{"GET", "/assets/{file}", oneArg((*Server).asset)},
}

// asset is a file of the dashboard.
type asset struct {
	body        []byte
	media, etag string
}

// mediaTypes holds the media types of the dashboard's files. Those of package mime depend on the
// machine.
var mediaTypes = map[string]string{".html": "text/html; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".txt": "text/plain; charset=utf-8"}

// dashboard returns the files by name. It reads them once.
var dashboard = sync.OnceValues(func() (map[string]asset, error) {
	files := map[string]asset{}
	err := fs.WalkDir(
		dashboardFiles,
		"dashboard",
		func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			b, err := dashboardFiles.ReadFile(name)
			sum := sha256.Sum256(b)
			files[path.Base(name)] = asset{b, mediaTypes[path.Ext(name)],
				`"` + hex.EncodeToString(sum[:12]) + `"`}
			return err
		},
	)
	return files, err
})

func (s *Server) home(ctx *fasthttp.RequestCtx) error { return sendAsset(ctx, homeFile) }

func (s *Server) asset(ctx *fasthttp.RequestCtx, name string) error {
	if name == homeFile {
		return noAsset(name)
	}
	return sendAsset(ctx, name)
}

// sendAsset sends a file, or 304 if the browser has it already. The browser has to ask each time,
// because another version of the daemon has other files at the same addresses.
func sendAsset(ctx *fasthttp.RequestCtx, name string) error {
	files, err := dashboard()
	if err != nil {
		return err
	}
	f, ok := files[name]
	if !ok {
		return noAsset(name)
	}
	ctx.Response.Header.Set(fasthttp.HeaderCacheControl, "no-cache")
	ctx.Response.Header.Set(fasthttp.HeaderETag, f.etag)
	if etagMatches(string(ctx.Request.Header.Peek(fasthttp.HeaderIfNoneMatch)), f.etag) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	ctx.SetContentType(f.media)
	ctx.SetBody(f.body)
	return nil
}

func noAsset(name string) error {
	return wire.NewProblem(wire.NotFound, "the dashboard has no file %q", shorten(name)).
		WithHint("tensorcache ui opens the dashboard")
}
