// What a feed does a second, from the counters of its states.

/** Seconds between two states that make a rate. In a shorter time, a batch more or less counts. */
export const leastInterval = 1;

/** RateMeter makes rates from the states of one feed, which may arrive at any intervals. */
export class RateMeter {
  /**
   * add returns the rates since the last state that made some, and null if that is too recent. A
   * rate that is unknown is null.
   */
  add(state) {
    const before = (this.before ??= state);
    const s = state.seconds - before.seconds;
    if (s < leastInterval) return null;
    this.before = state;
    return {
      t: state.seconds,
      batches: (state.batches - before.batches) / s,
      windows: (state.served_windows - before.served_windows) / s,
      trainer: share(state.wait_data_s - before.wait_data_s, state.pass_s - before.pass_s),
      daemon: share(state.wait_trainer_s - before.wait_trainer_s, s),
    };
  }
}

const share = (a, b) => (b > 0 ? Math.min(1, Math.max(0, a / b)) : null);
