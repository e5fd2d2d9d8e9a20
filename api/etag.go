package api

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/valyala/fasthttp"
)

// replyTagged is reply with an ETag of the body. If the client has that body already, it answers
// 304 without the body.
func replyTagged(ctx *fasthttp.RequestCtx, body any) error {
	b, err := json.Marshal(body)
	if err == nil {
		replyTaggedJSON(ctx, b)
	}
	return err
}

func replyTaggedJSON(ctx *fasthttp.RequestCtx, b []byte) {
	tag := fmt.Sprintf(`"%016x"`, xxhash.Sum64(b))
	ctx.Response.Header.Set("ETag", tag)
	if etagMatches(string(ctx.Request.Header.Peek("If-None-Match")), tag) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	replyJSON(ctx, 200, b)
}

// etagMatches reports whether a list of tags, as in If-None-Match, has this tag.
func etagMatches(tags, tag string) bool {
	for candidate := range strings.SplitSeq(tags, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}
