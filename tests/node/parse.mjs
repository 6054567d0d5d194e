// Prints what esbuild finds wrong in pieces of code, each given as `[language, code]`.
import { text } from "node:stream/consumers";

import { transform } from "esbuild";

const wrong = [];
for (const [loader, code] of JSON.parse(await text(process.stdin)))
  await transform(code, { loader, format: "esm", logLevel: "silent" }).catch((error) => wrong.push(error.message));
console.log(JSON.stringify(wrong));
