package main

// pathWords say how a context gets into a batch, by the path of a plan. The dashboard has the same
// words.
var pathWords = map[string]string{
	"memcpy":    "one copy a window",
	"transpose": "copied value by value, converted or interleaved",
	"view":      "strides over the rows, not gathered",
}
