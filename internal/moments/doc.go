// Package moments computes count, mean, variance, minimum and maximum of blocks of values, and
// scales blocks: (v − shift) / scale.
//
// Statistics of columns and the fit of scalings use it. It is written to run at memory bandwidth.
// With AVX2, sums and scalings are assembly. Without it, Go code adds in the same order, so that
// the results are equal to the last bit.
//
// [Moments] of blocks are joined by the formulas of Chan, Golub and LeVeque ("Updating Formulae and
// a Pairwise Algorithm for Computing Sample Variances", 1979). Within a block, eight lanes sum up
// differences from a value near the mean, so that one pass is as exact as two.
//
// # Caveats
//
// NaN is a missing value and is not counted. The last bits of results depend on how values are
// divided into blocks.
package moments
