// Builds the script and the module, and writes what of others is in them: `dist/bundled.json` for the bill of
// materials, and `dist/LICENSES.txt`, which is published beside them.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "vite";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const APACHE = "Apache-2.0";

const read = (...path) => readFileSync(join(...path), "utf8").trim();
const about = (folder) => JSON.parse(read(folder, "package.json"));
const own = about(HERE).name;

/** Every module that the bundler put into a file, by its path. */
async function bundled() {
  const modules = new Set();
  for (const mode of ["script", "module"]) {
    const results = [await build({ root: HERE, mode })].flat();
    for (const { output } of results)
      for (const { modules: its = {} } of output)
        for (const [id, { renderedLength }] of Object.entries(its)) if (renderedLength > 0) modules.add(id.replace(/\?.*$/, ""));
  }
  return [...modules];
}

/** The folder of the package that a module is of. Fails for one that is of none: nobody would name its author. */
function packageOf(module) {
  const [installed] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(module) ?? [];
  let folder = installed ?? dirname(module);
  while (installed === undefined && !existsSync(join(folder, "package.json"))) {
    if (dirname(folder) === folder || folder === ".") throw new Error(`This module is of no package: ${module}`);
    folder = dirname(folder);
  }
  return folder;
}

function filesOf(folder, pattern) {
  return readdirSync(folder).filter((name) => pattern.test(name)).sort().map((name) => read(folder, name));
}

/** What a package states in its sources of code that it has from others: its builds lack these comments. */
function creditsIn(folder) {
  const sources = join(folder, "src");
  if (!existsSync(sources)) return [];
  const files = readdirSync(sources, { recursive: true }).filter((name) => /\.[cm]?[jt]sx?$/.test(name)).sort();
  return files.flatMap((name) => (read(sources, name).match(/(?:^[ \t]*\/\/.*\n)+|\/\*[^]*?\*\//gm) ?? []).filter((each) => /copyright/i.test(each)));
}

function noticesOf(folder, license) {
  const licences = filesOf(folder, /^(licen[cs]e|copying)/i);
  if (licences.length === 0 && license !== APACHE) throw new Error(`Where is the licence of ${relative(HERE, folder)}?`);
  const none = `Its package has no notice. It is under ${license}, whose text is below.`;
  const found = [...(licences.length > 0 ? licences : [none]), ...filesOf(folder, /^notice/i), ...creditsIn(folder)];
  return [...new Set(found.map((text) => text.trim()))].join("\n\n");
}

const folders = [...new Set((await bundled()).map(packageOf))];
const packages = folders.map((folder) => ({ folder, ...about(folder) })).filter(({ name }) => name !== own);
packages.sort((one, other) => (one.name < other.name ? -1 : 1));

const list = packages.map(({ name, version, license, dependencies, peerDependencies }) => {
  return { name, version, license, needs: Object.keys({ ...dependencies, ...peerDependencies }) };
});
writeFileSync(join(HERE, "dist/bundled.json"), `${JSON.stringify(list, null, 2)}\n`);

const line = "=".repeat(80);
const chapters = [
  `${own} is under the licence of its file LICENSE. widget.js and index.js contain other libraries, too:`,
  ...packages.map(({ folder, name, version, license }) => `${line}\n${name} ${version} (${license})\n${line}\n\n${noticesOf(folder, license)}`),
  `${line}\nThe text of ${APACHE}\n${line}\n\n${read(HERE, `licences/${APACHE}.txt`)}`,
];
writeFileSync(join(HERE, "dist/LICENSES.txt"), `${chapters.join("\n\n")}\n`);
