// Prints how many bytes jsontide.js has: as it is, minified, and minified and compressed.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { transformSync } from "esbuild";

const source = readFileSync(new URL("../../src/jsontide/web/static/jsontide.js", import.meta.url), "utf8");
const { code, warnings } = transformSync(source, { minify: true, format: "esm", legalComments: "none" });
const compressed = gzipSync(code, { level: 9 }).length;
console.log(JSON.stringify({ source: source.length, minified: code.length, compressed, warnings }));
