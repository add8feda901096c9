import assert from "node:assert/strict";
import { test } from "node:test";
import { floatingPromises } from "./support/promises.ts";

for (const config of ["tsconfig.json", "tsconfig.scripts.json", "assets/tsconfig.json"]) {
  test(`no promise in the files of ${config} is left unhandled`, async () => {
    const found = await floatingPromises(config);

    assert.deepEqual(found, []);
  });
}

test("unhandled promises are found, whatever returns them", async () => {
  const lines = [
    'import { rm } from "node:fs/promises";',
    'import type { Work } from "./work.ts";',
    'import { begin, Clock } from "./work.ts";',
    "export async function all(clock: Clock, work: Work, on: (done: () => void) => void): Promise<void> {",
    "  clock.tick(); // left",
    "  begin(); // left",
    "  work.again?.(1); // left",
    "  new Clock().inner.tick(); // left",
    '  rm("a"); // left',
    "  [1, 2].map(async (n) => n); // left",
    "  Promise.all([clock.tick()]); // left",
    "  begin().then(() => {}); // left",
    "  begin().finally(() => {}); // left",
    "  on === undefined || begin(); // left",
    "  on === undefined ? begin() : undefined; // left",
    "  setTimeout(async () => begin(), 1); // left",
    "  on(() => begin()); // left",
    "  on(begin); // left",
    "  setTimeout(clock.tick, 1); // left",
    "  [1].forEach(async function each() {}); // left",
    "  await begin();",
    "  void begin();",
    "  begin().catch(() => {});",
    "  begin().then(() => {}, () => {});",
    "  begin().catch(() => {}).finally(() => {});",
    "  await begin().finally(() => clock.tick());",
    "  let kept = begin();",
    "  kept = clock.tick();",
    "  setTimeout(() => void kept, 1);",
    "  await Promise.all([1].map(async (n) => n));",
    "}",
  ];
  const work = [
    "export class Clock { readonly inner: Clock = this; async tick(): Promise<number> { return 1; } }",
    "export const begin = () => new Clock().tick();",
    "export interface Work { again?<T>(value: T): Promise<T> }",
  ];

  const found = await floatingPromises("test/sample/tsconfig.json", {
    "test/sample/tsconfig.json":
      '{ "extends": "../../tsconfig.json", "files": ["sample.ts"], "include": [] }',
    "test/sample/sample.ts": lines.join("\n"),
    "test/sample/work.ts": work.join("\n"),
  });

  const expected = lines.flatMap((line, i) =>
    line.endsWith("// left") ? [`test/sample/sample.ts:${i + 1}`] : [],
  );
  assert.deepEqual(found, expected);
});
