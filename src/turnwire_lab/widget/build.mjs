// Builds the script and the module, and writes what of others is in them: `dist/bundled.json` for the bill of
// materials, and `dist/LICENSES.txt`, which is published beside them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "vite";

import { modulesOf, noticesOf, packagesOf } from "./notices.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const modules = [];
for (const mode of ["script", "module"]) modules.push(...modulesOf(await build({ root: HERE, mode })));
const packages = packagesOf(modules, HERE);

const list = packages.map(({ name, version, license, dependencies, peerDependencies }) => {
  return { name, version, license, needs: Object.keys({ ...dependencies, ...peerDependencies }) };
});
writeFileSync(join(HERE, "dist/bundled.json"), `${JSON.stringify(list, null, 2)}\n`);

const head = "turnwire-widget is under the licence of its file LICENSE. widget.js and index.js contain other libraries, too:";
writeFileSync(join(HERE, "dist/LICENSES.txt"), noticesOf(packages, head));
