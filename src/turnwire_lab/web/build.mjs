// Builds the page, and writes what its script has of others: `dist/LICENSES.txt`, which goes along in the lab's wheel.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "vite";

import { modulesOf, noticesOf, packagesOf } from "../widget/notices.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const packages = packagesOf(modulesOf(await build({ root: HERE, logLevel: "warn" })), HERE);
const head = "The demo's page is under the licence of turnwire-lab, which it is a part of. Its script contains other libraries, too:";
writeFileSync(join(HERE, "dist/LICENSES.txt"), noticesOf(packages, head));
