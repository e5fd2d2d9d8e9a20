// Package rows determines which rows of the sources become rows of the result, and in which order.
// It filters, sorts, removes duplicates and completes a regular time grid.
//
// A [Map] contains, for each row of the result, the number of its source row. Functions that select
// or order rows change only the map. The caller moves the columns once, at the end, with
// [CopyRows], and does not move them if every row stays in place. All decisions use the item and
// time columns ([Keys]) only.
//
// # Caveats
//
// Only [Average] and [CopyRows] read and write value columns. [CompleteTimes] and [CompleteItems]
// write the keys of inserted rows. Row numbers count the rows of all sources together. An inserted
// row has the number [Inserted] instead.
package rows
