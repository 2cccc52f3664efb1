// A storage of the browser that is gone with its test.
import type { StoragePort } from "../src/index.js";

export function memory(): StoragePort & { all: Map<string, string> } {
  const all = new Map<string, string>();
  return {
    all,
    getItem: (key) => all.get(key) ?? null,
    setItem: (key, value) => void all.set(key, value),
    removeItem: (key) => void all.delete(key),
  };
}
