// Package window turns a window spec into the set of windows that exist, and window numbers into
// places.
//
// A [Spec] says what a window is: how many context and prediction rows it has, how far apart they
// are, and which rows it may use. [New] applies the spec to a [Table] (item offsets, times, missing
// values) and returns an [Index]: a list of runs, each of which is a list of windows of one item
// whose starts are one stride apart. Everything that rejects a window (an item's end, a jump in
// time, missing values, a split) only divides runs. Therefore an index over 10⁹ windows of one
// series is one run, and [Index.Place] is one binary search. [Index.Where], [Index.Split] and
// [Index.Latest] narrow an index further. Each such step is a [Cut]; the spec and the cuts together
// define an index ([Index.Hash]).
//
// The package is arithmetic: it opens no file, locks nothing, reads no clock, and never reads a
// value column.
//
// The package is larger than others, because its names are public: a spec, its JSON, and the index
// that it defines are one import path for users of the Go client. The files are small and have one
// subject each: what a user writes (spec.go, parse.go, time.go, step.go, cut.go, split.go), how it
// becomes runs (build.go, subset.go, filter.go, missing.go, sweep.go, steps.go, latest.go), and what
// the index answers (index.go, runs.go, reason.go, rejection.go, stretch.go).
//
// # Which windows exist
//
// C is context_length, P prediction_length, G gap, L overlap, S stride and D dilation. Row i of a
// window that starts at s is s + i·D. Context: i in [0, C). Target: i in [C+G−L, C+G+P).
// The last P rows of the target are the prediction rows. T = C+G+P. For an item of n rows:
//
//   - rows=(a, b) and time=(a, b) admit the rows [a, b) only. Bounds are clamped to [0, n] as a
//     Python slice clamps them. Without bounds a = 0 and b = n.
//   - Positions are s = a + k·S inside [0, n). min_context = m adds positions with padding, from a
//     − (C−m)·D on. Only context rows are padded. Gap and prediction rows are not, and neither is
//     the last context row if P = 0. With anchor="end" positions are the windows whose last row is
//     b − 1 − k·S and inside [0, n). If [a, b) is empty there is no padding.
//   - A position is counted once, by the first reason that applies: bounds (it reaches below a > 0
//     or beyond b < n), item_end (it reaches below a = 0 or beyond b = n), max_step, max_missing,
//     split. If no reason applies it is a window.
//   - max_step applies to all neighbouring rows from the window's first row that is not padding to
//     its last, whatever the dilation.
//   - max_missing admits a window if missing/cells ≤ max_missing in float64. Cells are distinct
//     (row, feature) cells: a row that overlap delivers twice counts once per feature. Padding has
//     no cells.
//
// # Parts
//
// A part has, per item, a range [lo, hi) of prediction rows and a lower bound of context rows. A
// position belongs to the part whose range contains its first prediction row (if P = 0: its last
// context row). It is a window of the part if the range contains its last prediction row too.
// Before the first cut by rows or time the range is [a, b) and all positions belong to it,
// including those whose first prediction row is beyond the item's end. A cut by items does not
// change this.
//
//   - where(rows=) means rows of the whole item; negative rows count from its end. A window must
//     meet all conditions.
//   - lengths and fractions count rows of the current range. lengths may leave rows over, unless
//     one is null. fractions leave none: the null part, otherwise the last, takes the rest.
//   - purge ends each part that many rows before the next one begins.
//   - context_before_split=false requires the whole window to be in the part's range. Padded
//     windows exist at the first rows of an item only, so only a part that begins there has them.
//   - Fractions of items compare u = ⌊hash/2¹¹⌋·2⁻⁵³ with the running sums of the fractions: an
//     item is in the first part whose sum is above u. The last part takes the rest.
//   - latest uses, per item, the last row of the range with a value in some target column as the
//     window's last context row. It ignores the stride. Jumps and missing values count in the
//     context only. latest is the last cut.
//
// # Caveats
//
// An Index is immutable and safe for concurrent use. It uses the slices of its Table, which must
// not change. Rows are rows of the item, not of the dataset: add Table.Offsets[item]. A padded
// window starts before [Index.FirstRow], which is 0 unless the spec has rows or time: call
// [Index.Pad] instead of checking the sign of Start.
package window
