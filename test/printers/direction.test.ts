import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { cleanText } from "../../src/domain/fields.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { html } from "../../src/html/html.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { startApp } from "../support/app.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const directionCharacters = [..."\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"];
const fields = [
  "name",
  "location",
  "comment",
  "port_name",
  "lpr_queue",
  "snmp_community",
  "share_name",
  "replaces",
];

test("characters that change the text direction are refused in every field, with their code points", () => {
  for (const character of directionCharacters) {
    for (const field of fields) {
      const form = { name: "Office", [field]: `a${character}b` };
      const code = character.charCodeAt(0).toString(16).toUpperCase();

      assert.throws(
        () => parsePrinter(form),
        (error) => error instanceof UserError && (error.fields[field] ?? "").includes(`U+${code}`),
        `${field} U+${code}`,
      );
    }
  }
});

test("direction marks at the ends, which come with pasted text, are trimmed like spaces", () => {
  const typed = "\u200e \u200f10.0.0.9\u061c \u200e";

  assert.equal(cleanText(typed), "10.0.0.9");
  assert.equal(parsePrinter({ name: "Office", address: typed }).address, "10.0.0.9");
  assert.equal(cleanText("شركة\u200f (2)"), "شركة\u200f (2)", "inside a name they stay");
});

test("pages contain no character that changes the direction of the text after it", () => {
  const markup = html`<p title="${"a\u202eb"}">${directionCharacters.join("x")}</p>`.toString();

  assert.doesNotMatch(markup, /[\u202a-\u202e\u2066-\u2069]/);
  assert.match(markup, /<p title="a\ufffdb">(?:\ufffdx){8}\ufffd<\/p>/);
});

test("scripts of printers saved with such a name contain it as a number, and keep their revision", () => {
  const printer = { ...makePrinter(), name: "a\u202eb\u2066c" };
  const driver = makeDriver();

  const texts = scriptKinds.map((kind) =>
    renderScript(kind, deploymentOf({ printer, driver, arm64Driver: undefined })).toString(),
  );

  for (const text of texts) assert.doesNotMatch(text, /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  assert.equal(powershell`${"a\u202eb"}`, "(-join ('a', [char]0x202E, 'b'))");
  assert.equal(revisionOf({ printer, driver, arm64Driver: undefined }), "585569bb2545");
});

test("names from outside are isolated from the direction of the text around them", async (t) => {
  const { post, fetch, addPrinter } = await startApp(t);
  const name = "مكتب 1";
  await post("/clients", { name });
  await addPrinter({ name, client_id: "1" });

  const pages = await Promise.all(
    ["/printers/1", "/printers/1/edit", "/clients/1", "/printers/1?done=saved", "/clients?saved=1"].map(
      async (path) => (await fetch(path)).text(),
    ),
  );

  for (const text of pages.slice(0, 3)) assert.match(text, /<h1>(?:Edit )?<bdi>مكتب 1<\/bdi><\/h1>/);
  for (const text of pages.slice(3)) assert.match(text, /Saved: <a href="[^"]*"><bdi>مكتب 1<\/bdi><\/a>/);
});
