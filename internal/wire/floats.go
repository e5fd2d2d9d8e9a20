package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// ExactFloats gives a value for JSON in which floats beyond 2^53 have an exponent. encoding/json writes them with the fewest digits
// that mean the float, and zeros behind these, which are the digits of another whole number: 2^60 as 1152921504606847000.
func ExactFloats(v any) any {
	if _, own := v.(json.Marshaler); v == nil || own {
		return v
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if r.IsNil() {
			return v
		}
	}
	switch r.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := r.Float(); math.Abs(f) >= 1<<53 && f-f == 0 {
			return json.RawMessage(strconv.FormatFloat(f, 'e', -1, 64))
		}
	case reflect.Pointer:
		return ExactFloats(r.Elem().Interface())
	case reflect.Map:
		out := make(map[string]any, r.Len())
		for _, key := range r.MapKeys() {
			if key.Kind() != reflect.String {
				return v // which encoding/json judges
			}
			out[key.String()] = ExactFloats(r.MapIndex(key).Interface())
		}
		return out
	case reflect.Slice, reflect.Array:
		out := make([]any, r.Len())
		for i := range out {
			out[i] = ExactFloats(r.Index(i).Interface())
		}
		return out
	}
	return v
}
