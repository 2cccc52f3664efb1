// Line icons of one grid, drawn here so that nothing is fetched for them.
const PATHS = {
  plus: "M8 3v10M3 8h10",
  send: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4.5 4.5h7v7h-7z",
  clip: "M12.5 7.5 7.8 12.2a3 3 0 0 1-4.2-4.2l5-5a2 2 0 0 1 2.8 2.8l-5 5a1 1 0 0 1-1.4-1.4l4.3-4.3",
  redo: "M12.5 6.5A5 5 0 1 0 13 9M12.8 3v3.6H9.2",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "m4 4 8 8M12 4l-8 8",
  wire: "M2 5h8M7.5 2.5 10 5 7.5 7.5M14 11H6m2.5-2.5L6 11l2.5 2.5",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5",
  auto: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  down: "M8 3v10M3.5 8.5 8 13l4.5-4.5",
  tool: "M10.5 2.5a3.5 3.5 0 0 0-3.3 4.6L2.5 11.8l1.7 1.7 4.7-4.7a3.5 3.5 0 0 0 4.4-4.5l-2 2-1.6-1.6 2-2a3 3 0 0 0-1.2-.2",
  chevron: "m6 4 4 4-4 4",
  bolt: "M9 2 4 9h4l-1 5 5-7H8z",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  pen: "M3 13v-2.5L10.5 3 13 5.5 5.5 13zM9 4.5 11.5 7",
  bin: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9M7 7v4M9 7v4",
  spark: "M8 2v3M8 11v3M2 8h3M11 8h3M4 4l1.8 1.8M10.2 10.2 12 12M12 4l-1.8 1.8M5.8 10.2 4 12",
  check: "m3.5 8.5 3 3 6-7",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
