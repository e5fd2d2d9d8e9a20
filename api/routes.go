package api

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// route is what one method does on one path. In the path {name} stands for one segment, which serve
// is given.
type route struct {
	method, path string
	handle       func(s *Server, ctx *fasthttp.RequestCtx, args []string) error
}

// routes are all there are, each list beside its handlers.
var routes = slices.Concat(daemonRoutes, eventRoutes, metricRoutes, datasetRoutes, planRoutes,
	jobRoutes, feedRoutes, loginRoutes, viewRoutes, memoryRoutes, dashboardRoutes)

// plain is a handler of a path without arguments, named one of a path with one.
func noArg(serve func(*Server, *fasthttp.RequestCtx) error) func(*Server, *fasthttp.RequestCtx,
	[]string) error {
	return func(s *Server, ctx *fasthttp.RequestCtx, _ []string) error { return serve(s, ctx) }
}

func oneArg(serve func(*Server, *fasthttp.RequestCtx, string) error) func(*Server,
	*fasthttp.RequestCtx, []string) error {
	return func(s *Server, ctx *fasthttp.RequestCtx, args []string) error {
		return serve(s,
			ctx, args[0])
	}
}

// match gives the arguments in segments, where the route is of that path.
func (r *route) match(segments []string) (args []string, ok bool) {
	i := 0
	for part := range strings.SplitSeq(strings.TrimPrefix(r.path, "/"), "/") {
		if i == len(segments) {
			return nil, false
		}
		switch {
		case strings.HasPrefix(part, "{"):
			args = append(args, segments[i])
		case part != segments[i]:
			return nil, false
		}
		i++
	}
	return args, i == len(segments)
}

// segments are the parts of the path as the client wrote it: a name may have an escaped slash or be
// "..", and is refused as a name then.
func pathSegments(ctx *fasthttp.RequestCtx) []string {
	parts := strings.Split(strings.Trim(string(ctx.URI().PathOriginal()), "/"), "/")
	for i, p := range parts {
		if text, err := url.PathUnescape(p); err == nil {
			parts[i] = text
		}
	}
	return parts
}

// route finds the handler by path and method. HEAD is served as GET; fasthttp leaves the body out.
func (s *Server) route(ctx *fasthttp.RequestCtx) error {
	path, method := pathSegments(ctx), string(ctx.Method())
	if method == fasthttp.MethodHead {
		method = fasthttp.MethodGet
	}
	var allowed []string
	for i := range routes {
		r := &routes[i]
		args, ok := r.match(path)
		if !ok {
			continue
		}
		if r.method == method {
			ctx.SetUserValue(routeKey, r)
			if err := checkRequest(ctx, r); err != nil {
				return err
			}
			return r.handle(s, ctx, args)
		}
		allowed = append(allowed, r.method)
		if r.method == fasthttp.MethodGet {
			allowed = append(allowed, fasthttp.MethodHead)
		}
	}
	// as the client wrote it: fasthttp's path has another meaning
	asked := shorten(string(ctx.URI().PathOriginal()))
	if allowed == nil {
		return wire.NewProblem(wire.NotFound, "there is no route %s", asked).
			WithHint("GET /v1/openapi.json lists the routes")
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	ctx.Response.Header.Set("Allow", list)
	return wire.NewProblem(wire.MethodNotAllowed, "%s does not go with %s, want %s",
		shorten(method), asked, list)
}
