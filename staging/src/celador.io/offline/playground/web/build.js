// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Bundles the page into the directory of the first argument, by default the one that the binary embeds.

import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";

const out = process.argv[2] ?? "../assets";
const header = ["Copyright 2026 The Celador Authors.", "SPDX-License-Identifier: Apache-2.0", "Bundled from ../web; see licenses.txt for the packages in it."];
const comment = `/*\n${header.join("\n")}\n*/`;

await mkdir(out, { recursive: true });
const { metafile } = await build({
  entryPoints: ["src/playground.js", "src/playground.css"],
  outdir: out,
  bundle: true,
  minify: true,
  metafile: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: comment, css: comment },
});
await copyFile("src/index.html", join(out, "index.html"));
await writeFile(join(out, "licenses.txt"), await licenses(packages(metafile)));

// packages returns the directories of the packages that a bundle has code of, sorted.
function packages({ inputs }) {
  const directories = Object.keys(inputs).map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(directories.filter(Boolean))].sort();
}

// licenses returns the texts of the licenses of packages. It throws if a package does not have one.
async function licenses(directories) {
  const texts = await Promise.all(
    directories.map(async (directory) => {
      const { name, version, license } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
      const file = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) {
        throw new Error(`${directory} has no license file`);
      }
      return `${name} ${version} (${license})\n\n${(await readFile(join(directory, file), "utf8")).trim()}\n`;
    }),
  );
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
