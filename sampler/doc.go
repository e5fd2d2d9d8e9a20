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
// A position is one window, and a step consumes B·R of them, rank r the r-th B. In an order with
// [Traits].Blocks a position is a block of windows, and a step consumes R of them, rank r the r-th.
// With m positions left and m less than a step:
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
// Each use of random numbers in an order has a purpose, a number that the formula of the order names.
//
// # Orders
//
// Each order is named by a constant, as [Shuffle], whose comment is its formula to the bit. There n is
// the number of windows and p a position. [Orders] lists the names.
//
// Each order is one file: its name and formula, its traits, the fields of its cursor, and a type
// that maps positions to windows. The registry in orders.go lists them. Code outside of this package
// asks [Options.Traits] how an order behaves, and not for its name.
//
// # Caveats
//
// A Sampler is not safe for concurrent use: an order may keep tables of the epoch it served last
// (random_start: per run; lanes: per item), rebuilt when the epoch changes. Lanes depend on B·R, so
// their cursor fits only the same product.
package sampler
