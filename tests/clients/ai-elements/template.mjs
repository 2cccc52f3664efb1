// AI Elements have no package: their own CLI downloads them when it runs. `eve` carries them in the template of its
// web app, as text. They are written beside the packages that they import, which no commit has.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { WEB_APP_TEMPLATE_FILES as FILES } from "./node_modules/eve/dist/src/setup/scaffold/create/web-template.js";

export const TEMPLATE = fileURLToPath(new URL("node_modules/.template", import.meta.url));

/** Write the components, and what they import, to `TEMPLATE`. */
export function unpack() {
  rmSync(TEMPLATE, { recursive: true, force: true });
  for (const [name, source] of Object.entries(FILES)) {
    if (!/^(components|lib)\//.test(name)) continue;
    const path = join(TEMPLATE, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
  }
}
