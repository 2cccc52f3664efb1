// How long a session waits, and for how much.

/** Another tab began a turn: the agent may know of it a little later. */
export const EXPECTED_MS = [0, 250, 500, 1000];
/** A stream whose turn was stopped has so long to end by itself. */
export const STOP_MS = 3_000;
/** A prompt waits so long for a look at what runs; then that is given up. */
export const LOOK_MS = 3_000;
/** A stream may bring nothing for so long. */
export const SILENCE_MS = 45_000;
/** A history has so many messages at most. */
export const PAGE = 100;
