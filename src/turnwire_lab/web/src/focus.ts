/** The message box: where the keyboard goes when what had it is gone. */
export function focusBox(): void {
  document.getElementById("composer")?.focus({ preventScroll: true });
}
