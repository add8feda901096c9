import assert from "node:assert/strict";
import { test } from "node:test";
import { dispositionOf, isNotModified, requestedRange } from "../../src/http/answers/send.ts";
import { assertLinearTime } from "../support/times.ts";

const etag = '"abc"';

test("a single range of bytes is read, with or without start or end", () => {
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=2-5", 2, 6],
    ["bytes=2-", 2, 10],
    ["bytes=-3", 7, 10],
    ["bytes=-99", 0, 10],
    ["bytes=5-99999999999999999999", 5, 10],
    ["BYTES= 2 - 5 ", 2, 6],
    ["bytes=9-9", 9, 10],
  ] as const)
    assert.deepEqual(requestedRange({ range }, 10, etag), { start, end }, range);
});

test("other range headers are answered with the whole", () => {
  const other = ["lines=1-2", "xbytes=1-2", "bytes=+1-2", "bytes=1.5-2", "bytes=0x1-2"];
  const broken = ["", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=0-1,3-4", "bytes=5-2", "bytes=1-2-3"];

  assert.equal(requestedRange({}, 10, etag), undefined);
  for (const range of [...other, ...broken])
    assert.equal(requestedRange({ range }, 10, etag), undefined, range);
});

test("a range after the end, or of no bytes, cannot be satisfied", () => {
  for (const range of ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])
    assert.equal(requestedRange({ range }, 10, etag), "unsatisfiable", range);
  assert.equal(requestedRange({ range: "bytes=0-" }, 0, etag), "unsatisfiable");
});

test("If-Range matches only the same strong ETag, and no date", () => {
  const range = "bytes=0-1";
  const ask = (condition: string) => requestedRange({ range, "if-range": condition }, 10, etag);

  assert.deepEqual(ask(etag), { start: 0, end: 2 });
  for (const condition of ['"other"', 'W/"abc"', "abc", new Date().toUTCString(), ""])
    assert.equal(ask(condition), undefined, condition);
});

test("If-None-Match accepts lists, weak tags and the star; If-Modified-Since is ignored", () => {
  const knows = (value: string) => isNotModified({ "if-none-match": value }, etag);

  assert.deepEqual(["*", etag, `"x", ${etag}`, `W/${etag}`, ` ${etag} `].map(knows), Array(5).fill(true));
  assert.deepEqual(['"x"', "", "abc", "**", 'w/"abc"'].map(knows), Array(5).fill(false));
  assert.equal(isNotModified({ "if-modified-since": new Date(2040, 0, 1).toUTCString() }, etag), false);
});

test("an attachment has a name in plain ASCII and one in UTF-8", () => {
  assert.equal(
    dispositionOf('Büro "1"\r\n/\\%.zip'),
    `attachment; filename="B_ro _1______.zip"; filename*=UTF-8''B%C3%BCro%20%221%22%0D%0A%2F%5C%25.zip`,
  );
});

test("Range and If-None-Match are read in linear time", async () => {
  for (const text of ["bytes=", "1", "-", " ", ",", "W/", '"'])
    await assertLinearTime(`long runs of “${text}”`, 10_000, (size) => {
      const long = text.repeat(size);
      for (const range of [long, `bytes=${long}`, `bytes=1${long}x`]) requestedRange({ range }, 10, etag);
      for (const known of [long, `x${long}x`]) isNotModified({ "if-none-match": known }, etag);
    });
});
