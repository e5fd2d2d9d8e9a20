// Package sampler turns (seed, epoch, rank, order) into window numbers.
//
// A [Sampler] returns one rank's batches of an epoch. [Sampler.Batch] fills a [Batch] for the step
// that starts at a consumed count, which is the number of entries that all ranks together have
// consumed. A [Cursor] is a consumed count and identifies the dataset, windows and order that it
// belongs to.
//
// An order is a formula and needs no shuffled list in memory. Every step of every epoch costs the
// same. Training can resume from a cursor with another number of ranks.
//
// # Entries and steps
//
// The order of an epoch is a list of Total entries, which the steps consume from the first to the
// last. Let R be num_replicas and B be batch_size.
//
// An entry is one window, and a step consumes B·R entries: rank r takes the r-th group of B. In an
// order with [Traits].Blocks an entry is a block of windows, and a step consumes R entries: rank r
// takes the r-th. If m entries are left, fewer than a step consumes:
//
//   - short: each rank gets ⌊m/R⌋ of them, and the first m mod R ranks get one more.
//   - wrap: the step continues at entry 0, repeatedly until it is full.
//   - drop: the epoch ends before them.
//
// # Random numbers
//
// All come from splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// OOPSLA 2014), in 64-bit arithmetic modulo 2⁶⁴ with φ = 0x9e3779b97f4a7c15:
//
//	mix(z): z = (z ^ z>>30)·0xbf58476d1ce4e5b9; z = (z ^ z>>27)·0x94d049bb133111eb; z ^ z>>31
//	draw(k, i) = mix(k + (i+1)·φ)                  the i-th output of the generator seeded with k
//	key(seed, epoch, purpose) = draw(draw(draw(0, seed), epoch), purpose)
//	below(x, n) = ⌊x·n / 2⁶⁴⌋
//
// Each use of random numbers has a purpose: a number in the formula of the order.
//
// # Orders
//
// Each order is named by a constant, for example [Shuffle]. The comment of the constant is the
// exact formula of the order, in which n is the number of windows and p an entry. [Orders] lists
// the names.
//
// Each order is one file: its name and formula, its traits, the fields of its cursor, and a type
// that maps entries to windows. The registry in orders.go lists them. Code outside of this
// package uses [Options.Traits] and does not compare names of orders.
//
// # Caveats
//
// A Sampler is not safe for concurrent use: an order may store tables of the last epoch
// (random_start: per run; lanes: per item; cross_section: per group), and rebuilds them when the
// epoch changes. Lanes depend on B·R, so a cursor of lanes is valid only for the same product.
package sampler
