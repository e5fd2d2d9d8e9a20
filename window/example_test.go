package window_test

import (
	"fmt"
	"strings"

	"github.com/tensorcache/tensorcache/window"
)

// ETTh1 with the lengths and the split that forecasting papers use.
func Example() {
	x, err := window.New(
		window.Spec{ContextLength: 336, PredictionLength: 96},
		window.Table{Offsets: []int64{0, 17420}})
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Len(), "windows,", x.Rejected())
	parts, err := x.Split(window.Split{Lengths: lengths(8640, 2880, 2880)})
	if err != nil {
		panic(err)
	}
	for _, part := range parts {
		fmt.Println(part.Len(), "from row", part.Place(0).Start)
	}
	// Output:
	// 16989 windows, map[item_end:431]
	// 8209 from row 0
	// 2785 from row 8304
	// 2785 from row 11184
}

func ExampleIndex_Explain() {
	x, err := window.New(
		window.Spec{ContextLength: 336, PredictionLength: 96},
		window.Table{Offsets: []int64{0, 100, 150}})
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.ReplaceAll(x.Explain().Error(), "; ", ";\n"))
	// Output:
	// no window exists: of 150 positions, item_end rejects 150;
	// context_length 336 + prediction_length 96 needs 432 rows;
	// the longest item has 100
}
