import assert from "node:assert/strict";
import { test } from "node:test";
import type { PrinterWithState } from "../../src/domain/printers/listings.ts";
import { messageBox } from "../../src/html/layout.ts";
import { completedChangeIn, printerMessage } from "../../src/html/messages.ts";
import { packageFormats } from "../../src/pkg/formats/formats.ts";
import { navigation, startApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

/** The visible text of a message, and the addresses of its links. */
function read(message: Parameters<typeof messageBox>[0] | undefined): [string, string[]] {
  const text = message === undefined ? "" : messageBox(message).toString();
  const [sentence = ""] = /<p>[\s\S]*?<\/p>/.exec(text) ?? [];
  const links = [...text.slice(text.indexOf("</p>")).matchAll(/<a href="([^"]*)"/g)].map((m) => m[1] ?? "");
  return [sentence.replace(/<[^>]*>/g, ""), links];
}

const row = {
  printer: { ...makePrinter({ name: "Office" }), id: 7 },
  client: { id: 3, name: "Alpha" },
  driver: makeDriver({ id: 2 }),
  arm64Driver: undefined,
  changed: false,
  ...{ state: "ready", findings: [] },
} satisfies PrinterWithState;
const packages = ["/printers/7/packages/mdm", "/printers/7/packages/rmm"];

test("the message after each change of a printer has its name, the effect and the next step", () => {
  const say = (
    done: Parameters<typeof printerMessage>[0],
    changed: Partial<PrinterWithState> = {},
    isDeployed = true,
  ) => read(printerMessage(done, { ...row, ...changed }, packageFormats, isDeployed));
  const later = { changed: true };
  const finding = { kind: "no-driver", state: "blocked", text: "No driver assigned." } as const;
  const bare = { client: undefined, driver: undefined, state: "blocked", findings: [finding] } as const;

  assert.deepEqual(say("saved"), [
    "Saved: Office",
    [...packages, "/printers?new=1&amp;client_id=3&amp;driver_id=2#new-printer"],
  ]);
  for (const done of ["changed", "redeploy"] as const) {
    assert.deepEqual(say(done, later), ["Saved: Office. Download and deploy the new package.", packages]);
    assert.deepEqual(say(done), ["Saved: Office. You do not need to deploy it again.", []]);
    assert.deepEqual(say(done, {}, false), ["Saved: Office", packages], "nobody has it yet");
  }
  assert.deepEqual(say("icon"), ["Saved: icon of Office. Download the Intune package to use it.", packages]);
  assert.deepEqual(say("saved", bare), [
    "Saved: Office. No driver assigned.",
    ["/printers/7/edit#f-driver_id", "/printers?new=1&amp;client_id=&amp;driver_id=#new-printer"],
  ]);
  assert.equal(printerMessage(undefined, row, packageFormats, true), undefined);
});

test("only known words in an address cause a message", () => {
  const queries = ["done=redeploy", "", "done=", "done=deleted", "done=toString"];

  const found = queries.map((query) => completedChangeIn(new URLSearchParams(query)));

  assert.deepEqual(found, ["redeploy", undefined, undefined, undefined, undefined]);
});

test("without scripts, messages name what was saved or deleted, and the next step", async (t) => {
  const { post, fetch, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const id = await addPrinter({ client_id: "1" });
  const follow = async (path: string, fields: Record<string, string> = {}) => {
    const answer = await post(path, fields, navigation);
    const text = await textOf(fetch(answer.headers.get("location") ?? ""));
    return text.slice(text.indexOf('id="message"'), text.indexOf("<h1>"));
  };
  const second = { name: "Second", address: "10.0.0.8", client_id: "1", driver_id: "1" };

  const created = await follow("/printers", second);
  await textOf(fetch(`/printers/${id}/packages/rmm`));
  const renamed = await follow(`/printers/${id}`, { name: "Other", address: "10.0.0.9", driver_id: "1" });
  const client = await follow("/clients/1", { name: "Beta" });
  const deleted = await follow(`/printers/${id}/delete`);
  const next = /href="(\/printers\?new=1[^"]*)"/.exec(created)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const form = await textOf(fetch(next));

  assert.match(created, /Saved: <a href="\/printers\/2"><bdi>Second<\/bdi>/);
  assert.match(renamed, /<bdi>Other<\/bdi><\/a>\. Download and deploy the new package\./);
  assert.match(client, /Saved: <a href="\/clients\/1"><bdi>Beta<\/bdi>/);
  assert.match(deleted, /Deleted: <bdi>Other<\/bdi>/);
  assert.match(form, /<option value="1" selected>Beta</);
  assert.match(form, /<option value="1" selected>Papyrus /);
});

test("saving a printer that cannot be deployed shows the obstacle and no download", async (t) => {
  const { post, fetch, addDriver } = await startApp(t);
  const driver_id = String(await addDriver(driverZip({ catalog: null })));
  const fields = { name: "Bad", address: "10.0.0.8", driver_id };

  const created = await textOf(post("/printers", fields, { "HX-Request": "true" }));
  const page = await textOf(fetch("/printers/1?done=redeploy"));

  for (const text of [created, page]) {
    const message = text.slice(text.indexOf('id="message"')).split("</ul></div>")[0] ?? "";
    const said =
      /class="notice warn"[\s\S]*Saved: <a href="\/printers\/1"><bdi>Bad<\/bdi><\/a>\. Unsigned: 64-bit/;
    assert.match(message, said);
    assert.doesNotMatch(message, /Download \w+ package/);
    assert.match(message, new RegExp(`href="/drivers/${driver_id}">Open the driver`));
  }
});

test("the message after the save of a driver that needs attention says so, and is not green", async (t) => {
  const { addDriver, addPrinter, fetch, post } = await startApp(t);
  await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"] }));
  await addPrinter({ driver_id: "1" });

  const answer = await post("/drivers/1", { comment: "By the door" }, navigation);
  const page = await textOf(fetch(answer.headers.get("location") ?? ""));

  assert.match(page, /<div id="message" ?><div class="notice warn"[\s\S]*?Saved: [\s\S]*?No model is chosen/);
});
