const FOCUSABLE = "a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), summary, [tabindex='0']";

/** Before a button goes, or is disabled, that has the focus: it stays in the panel. */
export function toLog(event: Event): void {
  (event.currentTarget as HTMLElement).closest(".panel")?.querySelector<HTMLElement>(".log")?.focus();
}

/** On Tab at an end of the panel, go on at its other end. */
export function trap(event: KeyboardEvent): void {
  const panel = event.currentTarget as HTMLElement;
  const stops = [...panel.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) => each.checkVisibility());
  const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
  const { activeElement } = panel.getRootNode() as ShadowRoot;
  if (activeElement !== last && panel.contains(activeElement)) return;
  event.preventDefault();
  first?.focus();
}
