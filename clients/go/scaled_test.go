package tensorcache

import (
	"errors"
	"math"
	"testing"

	"github.com/tensorcache/tensorcache/window"
)

func TestAScaledCopyIsFittedToAPart(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 40, window.Spec{})
	parts := must(w.Split(t.Context(), Split{Lengths: []int64{21, Rest}}))(t)
	var bytes int64
	scaled := must(w.Dataset().Scaled(t.Context(), "standard", ScaledOptions{Fit: parts[0],
		Progress: func(j Job) { bytes = j.BytesTotal }}))(t)
	defer scaled.Close()
	if bytes < 40*4 {
		t.Errorf("the copy takes %d bytes", bytes)
	}
	std := math.Sqrt((21*21 - 1) / 12.0) // of 0 to 20
	values := must(Column[float32](scaled, "v"))(t)
	for row, v := range values {
		if want := (float64(row) - 10) / std; math.Abs(float64(v)-want) > 1e-6 {
			t.Errorf("row %d is %v, want %v", row, v, want)
		}
	}
	again := must(w.Dataset().Scaled(t.Context(), "standard", ScaledOptions{Fit: parts[0]}))(t)
	defer again.Close()
	if again.Name() != scaled.Name() || again.Digest() != scaled.Digest() {
		t.Errorf("%s, want %s again", again.Name(), scaled.Name())
	}
}

func TestRefusedScaledCopiesNameTheirField(t *testing.T) {
	w := rampWindows(t, sharedDaemon(t), 40, window.Spec{})
	other := rampWindows(t, sharedDaemon(t), 41, window.Spec{})
	for _, c := range []struct {
		scale, field string
		o            ScaledOptions
	}{
		{"zscore", "scale", ScaledOptions{Fit: w}},
		{"standard", "scale_per", ScaledOptions{Fit: w, ScalePer: "items"}},
		{"standard", "columns", ScaledOptions{Fit: w, Columns: []string{"u"}}},
		{"standard", "fit", ScaledOptions{}},
		{"standard", "fit", ScaledOptions{Fit: other}},
	} {
		_, err := w.Dataset().Scaled(t.Context(), c.scale, c.o)
		var why *Error
		if !errors.As(err, &why) || why.Field != c.field {
			t.Errorf("%s %+v: %v, want field %s", c.scale, c.o, err, c.field)
		}
	}
}
