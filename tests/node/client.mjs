// Looks at one stream after another: a line of JSON in, `[kind, given]`, a line of JSON out.
import { createInterface } from "node:readline";

import { answer } from "./client_checks.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const found = await answer(...JSON.parse(line)).catch((error) => [error.stack]);
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
