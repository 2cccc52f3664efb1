// Which releases a client really is.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The versions that run, by name; refuses a package that came from outside of the client's `home`. */
export function versions(home, found) {
  const folder = new URL("node_modules/", home).href;
  const packages = found.map((url) => {
    if (!url.startsWith(folder)) throw new Error(`${home} resolved ${url}, outside its folder`);
    const [first, second] = url.slice(folder.length).split("/");
    const name = first.startsWith("@") ? `${first}/${second}` : first;
    const about = JSON.parse(readFileSync(fileURLToPath(`${folder}${name}/package.json`), "utf8"));
    return [about.name, about.version];
  });
  return Object.fromEntries([...packages, ["node", process.versions.node]]);
}
