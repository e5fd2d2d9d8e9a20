package api

import (
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// route is one method of one path. In the path, {name} stands for one segment.
type route struct {
	method, path string
	handle       handler
}

// routes are all routes. Each list is in the file of its handlers.
var routes = slices.Concat(daemonRoutes, eventRoutes, metricRoutes, datasetRoutes, planRoutes,
	jobRoutes, feedRoutes, loginRoutes, viewRoutes, memoryRoutes, dashboardRoutes)

// handler answers a request; args are the segments of the path that the route names.
type handler func(s *Server, ctx *fasthttp.RequestCtx, args []string) error

// noArg adapts the handler of a path without arguments, oneArg that of a path with one.
func noArg(handle func(*Server, *fasthttp.RequestCtx) error) handler {
	return func(s *Server, ctx *fasthttp.RequestCtx, _ []string) error { return handle(s, ctx) }
}

func oneArg(handle func(*Server, *fasthttp.RequestCtx, string) error) handler {
	return func(s *Server, ctx *fasthttp.RequestCtx, args []string) error {
		return handle(s, ctx, args[0])
	}
}

// match reports whether the route has this path, and returns its arguments.
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

// pathSegments returns the segments of the path as the client wrote it, unescaped. A name may then
// contain a slash or be "..", and is refused as a name.
func pathSegments(ctx *fasthttp.RequestCtx) []string {
	parts := strings.Split(strings.Trim(string(ctx.URI().PathOriginal()), "/"), "/")
	for i, p := range parts {
		if text, err := url.PathUnescape(p); err == nil {
			parts[i] = text
		}
	}
	return parts
}

// route calls the handler of a path and method. It serves HEAD as GET; fasthttp leaves out the
// body.
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
	// as the client wrote it; fasthttp's path is normalised
	original := shorten(string(ctx.URI().PathOriginal()))
	if allowed == nil {
		return wire.NewProblem(wire.NotFound, "there is no route %s", original).
			WithHint("GET /v1/openapi.json lists the routes")
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	ctx.Response.Header.Set("Allow", list)
	return wire.NewProblem(wire.MethodNotAllowed, "%s is not allowed for %s, want %s",
		shorten(method), original, list)
}
