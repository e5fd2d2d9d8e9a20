// Package step applies the steps of a column, such as fill, clip and scale, in the order of package
// option.
//
// [Run] fits the steps of one column, one after the other, and writes the results. Each step is a
// type in a file of its name; steps.go lists them all. Values pass through the steps a tile of
// [TileRows] rows at a time.
//
// Fitted parameters are the same to the last bit for every order in which rows are read, and every
// number of workers. The package works on columns and reads no files.
package step
