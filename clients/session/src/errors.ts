// Failures that no response of the gateway states.

/** The stream ended before it said that it is over. */
export class CutShort extends Error {
  constructor() {
    super("The stream ended without an ending");
    this.name = "CutShort";
  }
}

/** The stream brought nothing for too long, not even a keepalive. */
export class FellSilent extends Error {
  constructor() {
    super("The stream fell silent");
    this.name = "FellSilent";
  }
}

/** The gateway answers, and not yet with what was asked for. */
export class Unavailable extends Error {
  override name = "Unavailable";
}

/** No stream is to be had: other tabs, or other sessions of this one, have them all. */
export class NoSlot extends Error {
  constructor() {
    super("All streams of this browser are taken");
    this.name = "NoSlot";
  }
}
