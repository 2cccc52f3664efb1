// Which packages the bundler put into files, and the notices that their licences ask for. The builds of
// the widget and of the demo's page use it: both hand on code of others.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const TEXTS = fileURLToPath(new URL("licences", import.meta.url));
/** Licences whose text stands once below, for packages that have no file of theirs. */
const KNOWN = new Set(["Apache-2.0", "MIT"]);
const LINE = "=".repeat(80);

const read = (...path) => readFileSync(join(...path), "utf8").trim();
const about = (folder) => JSON.parse(read(folder, "package.json"));

/** The paths of the modules in what `build` of Vite returned. */
export function modulesOf(built) {
  const outputs = [built].flat().flatMap(({ output }) => output);
  const rendered = outputs.flatMap(({ modules = {} }) => Object.entries(modules)).filter(([, { renderedLength }]) => renderedLength > 0);
  return rendered.map(([id]) => id.replace(/\?.*$/, ""));
}

/** The packages of these modules but the one in `root`, by name. */
export function packagesOf(modules, root) {
  const own = about(root).name;
  const folders = [...new Set(modules.map((module) => folderOf(module, root)))];
  const packages = folders.map((folder) => ({ folder, ...about(folder) })).filter(({ name }) => name !== own);
  return packages.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The notices of these packages, as one text that begins with `head`. */
export function noticesOf(packages, head) {
  const without = new Set(["Apache-2.0"]); // its texts are often the short form
  const chapters = packages.map(({ folder, name, version, license }) => {
    const licences = filesOf(folder, /^(licen[cs]e|copying)/i);
    if (licences.length === 0 && !KNOWN.has(license)) throw new Error(`Where is the licence of ${relative(TEXTS, folder)}?`);
    if (licences.length === 0) without.add(license);
    const none = `Its package has no notice. It is under ${license}, whose text is below.`;
    const found = [...(licences.length > 0 ? licences : [none]), ...filesOf(folder, /^notice/i), ...creditsIn(folder)];
    const texts = [...new Set(found.map((text) => text.trim()))];
    return `${LINE}\n${name} ${version} (${license})\n${LINE}\n\n${texts.join("\n\n")}`;
  });
  const texts = [...without].sort().map((license) => `${LINE}\nThe text of ${license}\n${LINE}\n\n${read(TEXTS, `${license}.txt`)}`);
  return `${[head, ...chapters, ...texts].join("\n\n")}\n`;
}

/** The folder of the package that a module is of. Fails for one that is of none: nobody would name its author. */
function folderOf(module, root) {
  // A few lines of the bundler's own, which join the modules of others.
  if (module.startsWith("\0rolldown/")) return join(root, "node_modules/rolldown");
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
