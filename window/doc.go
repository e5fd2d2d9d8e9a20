// Package window turns a window spec into the set of windows that exist, and window numbers into
// places.
//
// A [Spec] says what a window is: how many context and prediction rows, how far apart, and which
// rows may be used. [New] applies it to a [Table] (item offsets, times, missing values) and returns
// an [Index]: a list of runs, each a stretch of windows of one item whose starts are one stride
// apart. Everything that forbids a window (an item's end, a jump in time, missing values, a split)
// only cuts runs, so an index over 10⁹ windows of one series is one run, and [Index.Place] is one
// binary search. [Index.Where], [Index.Split] and [Index.Latest] narrow an index further; each
// step is a [Cut], so that spec and cuts together name an index exactly ([Index.Hash]).
//
// The package is arithmetic: it opens nothing, locks nothing, asks no clock and never reads a value
// of a column.
//
// # Which windows exist
//
// Row i of a window that starts at s is s + i·D. Context: i in [0, C). Target: i in [C+G−L, C+G+P),
// of which the last P are the prediction rows; T = C+G+P. For an item of n rows:
//
//   - rows=(a, b) and time=(a, b) admit the rows [a, b) only; bounds are clamped to [0, n] as a
//     Python slice does it. Without them a = 0, b = n.
//   - Positions are s = a + k·S inside [0, n), and those before that min_context = m admits with
//     padding: from a − (C−m)·D on. Only context rows are padded; gap and prediction rows are real,
//     and for P = 0 the last context row is. anchor="end" counts from the other side: positions are the windows whose
//     last row is b − 1 − k·S and inside [0, n). Where [a, b) is empty nothing is padded.
//   - A position is counted once, by the first that holds of: bounds (it reaches over a > 0 or
//     over b < n), item_end (it reaches over a or b where these are the item's own ends), max_step,
//     max_missing, split; else it is a window. So b = n is no bound.
//   - max_step looks at all neighbouring raw rows from the window's first real row to its last.
//   - max_missing admits a window when missing/cells ≤ max_missing in float64. Cells are distinct
//     (row, feature) cells: a row that overlap delivers twice counts once per feature. Padding
//     has no cells.
//
// # Parts
//
// A part keeps per item a range [lo, hi) of prediction rows and a lower bound for context rows. A
// position belongs to the part in whose range its first prediction row lies (P = 0: its last
// context row); it is a window of the part when its last prediction row lies there too. Before the
// first cut by rows or time the range is [a, b), and all positions belong to it, those too whose
// first prediction row is past the item's end; cutting by items leaves that so.
//
//   - where(rows=) means rows of the whole item, negative from its end; several conditions must
//     all hold.
//   - lengths and fractions count inside the current range. lengths may leave rows over, unless one
//     is null; fractions never do: the null part, else the last, takes the rest.
//   - purge ends each part so many rows before the next one begins.
//   - context_before_split=false asks the whole window to lie in the part's range; padded windows
//     exist at an item's first rows only, so only in a part that begins there.
//   - Fractions of items compare u = ⌊hash/2¹¹⌋·2⁻⁵³ with the fractions' running sums: an item is
//     in the first part with u below its sum; the last part takes the rest.
//   - latest takes, per item, the last row of the range with a value in some target column, as the
//     window's last context row. Stride does not matter; only the context is asked for jumps and
//     missing values. It is the last cut.
//
// # Caveats
//
// An Index is immutable and safe for concurrent use; it keeps the slices of its Table, which must
// stay as they are. Rows are rows of the item, not of the dataset: add Table.Offsets[item]. A
// padded window starts before [Index.FirstRow], which is 0 unless rows or time say otherwise: ask
// [Index.Pad], not the sign of Start.
package window
