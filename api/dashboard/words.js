// Words for the names that the daemon uses.

/** deliveries says how batches get to the trainer, by the path or the delivery. */
const deliveries = {
  memcpy: "one copy a window",
  transpose: "copied value by value, converted or interleaved",
  view: "strides over the rows, not gathered",
  slot: "copied by the daemon",
  local: "copied by the trainer",
  starts: "only where each window starts",
};

export const deliveryText = (name) => deliveries[name] ?? name;
