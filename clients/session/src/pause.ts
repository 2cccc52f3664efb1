/** Wait for so many milliseconds; for none, not even until the next task. */
export function pause(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
