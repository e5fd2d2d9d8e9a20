// Package sampler turns (seed, epoch, rank, order) into window numbers.
//
// A [Sampler] serves one rank's batches of an epoch: [Sampler.Batch] fills a [Batch] for the step
// that starts at a count of what all ranks have consumed. A [Cursor] is that count and what it
// belongs to. Nothing is shuffled in memory: an order is a formula, so any step of any epoch costs
// the same, and any number of ranks resumes any other's cursor.
//
// # Positions and steps
//
// An epoch has Total positions, consumed in ascending order, R = num_replicas and B = batch_size.
// In random_start a position is a block and a step consumes R of them, rank r the r-th; in all
// other orders it is a window and a step consumes B·R, rank r the r-th B. With m positions left and
// m less than a step:
//
//   - short: rank r gets ⌊m/R⌋ of them, the first m mod R ranks one more, in rank order.
//   - wrap: the step goes on at position 0 (and again, until it is full).
//   - drop: the epoch ends before them.
//
// # Random numbers
//
// All are of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// OOPSLA 2014), in 64-bit arithmetic modulo 2⁶⁴ with φ = 0x9e3779b97f4a7c15:
//
//	mix(z): z = (z ^ z>>30)·0xbf58476d1ce4e5b9; z = (z ^ z>>27)·0x94d049bb133111eb; z ^ z>>31
//	draw(k, i) = mix(k + (i+1)·φ)                  the i-th output of the generator seeded with k
//	key(seed, epoch, purpose) = draw(draw(draw(0, seed), epoch), purpose)
//	below(x, n) = ⌊x·n / 2⁶⁴⌋
//
// Purposes are shuffle 1, bootstrap 2, blocks 3, phases 4, items 5, rotation 6.
//
// # Orders
//
// n is the number of windows, p a position.
//
// sequential: window p.
//
// shuffle: window permute(key(seed, epoch, 1), n, p), a generalised Feistel network with cycle
// walking (Black, Rogaway: Ciphers with arbitrary finite domains, CT-RSA 2002, method 3). With a the
// least even integer whose square is at least n, write x = l·a + r and do, for i from 0 to rounds−1,
// (l, r) ← (r, (l + below(draw(draw(key, i), r), a)) mod a); the result is l·a + r, and while it
// is n or more the network is applied to it again. rounds is 8, and 16 where n < 4096. As
// (a−2)² < n, fewer than 4a of the a² numbers are walked over.
//
// bootstrap: window below(draw(key(seed, epoch, 2), p), n): with replacement. With weights, an item
// is drawn in proportion to its weight and a window of it evenly: with d = draw(key, 2p) and
// e = draw(key, 2p+1), the item is the first whose running sum of weights (float64, in item order,
// items without windows left out) exceeds ⌊d/2¹¹⌋·2⁻⁵³ times their total, and its window number
// below(e, count).
//
// random_start: run j of the index is cut into blocks of B consecutive windows, the first of length
// below(draw(key(seed, epoch, 4), j), B), or B where that is 0; the blocks at a run's ends may be
// shorter. Blocks are numbered run by run; position p is block permute(key(seed, epoch, 3), blocks, p).
//
// lanes: items with windows are put in the order permute(key(seed, epoch, 5), items, ·), their
// windows one after the other, and the whole is rotated to begin at
// below(key(seed, epoch, 6), n). It is cut into W = B·R lanes of q = ⌊n/W⌋ windows each: position
// t·W + l with t < q is window t of lane l. What is left over, fewer than W windows, is the last
// step, for the tail to deal. [Batch.Reset] is true where a row does not continue the same row of
// the rank's batch before, as the first rows of an epoch do not: where it is not the next window of
// the same run, or a jump in time (max_step) lies between the two.
//
// # Caveats
//
// A Sampler is not safe for concurrent use: it keeps tables of the epoch it served last
// (random_start: per run; lanes: per item), rebuilt when the epoch changes. The other orders keep
// nothing. Lanes depend on B·R, so their cursor fits only the same product.
package sampler
