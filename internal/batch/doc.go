// Package batch lays out batches of windows in memory and fills them.
//
// A [Layout] says where in a slot each part of a batch is: dense parts (context, target, known,
// static, masks) for the delivery "slot", else only the places of the windows. A [Filler] writes
// batches into slots. Package gather moves the values.
//
// [ChooseDelivery] decides by which delivery batches reach a trainer, and [CheckView] whether they can be
// views of the mapped columns.
//
// # Caveats
//
// A Filler writes a slot's memory and reads only what it has just written, because a client may
// write to the slot at any time.
package batch
