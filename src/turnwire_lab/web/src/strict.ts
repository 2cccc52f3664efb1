// Before anything else is loaded: the schema library would try `new Function`, which the page's
// policy forbids, and the browser would report the attempt.
export {};

declare global {
  var __zod_globalConfig: { jitless?: boolean } | undefined;
}

globalThis.__zod_globalConfig = { jitless: true };
