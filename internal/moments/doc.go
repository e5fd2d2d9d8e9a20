// Package moments measures values and standardises them, block by block, at the pace of memory: count, mean, spread, least and
// greatest for the statistics of a column and for what a scaling is fitted to, and (v − shift) / scale.
//
// [Moments] of blocks are joined as Chan, Golub and LeVeque do ("Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances", 1979); within a block differences from a value near the mean are summed up in eight lanes, so that one pass is as exact
// as two. Where the processor has AVX2 the lanes are its registers, else plain Go goes through them in the same order: the results are
// the same to the last bit.
package moments
