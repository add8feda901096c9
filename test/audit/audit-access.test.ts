import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { until } from "../support/until.ts";

test("making, using and revoking a token is logged without the token's text", async (t) => {
  const { service, admin, bearer, addToken } = await startGuarded(t);
  await admin.addPrinter();

  const token = await addToken("printer:1");
  await (await bearer(token).fetch("/printers/1/scripts/detect")).arrayBuffer();
  // The clock stands still, so write the entries now: entries of the same time are in the order of writing.
  await logEntries(service);
  await admin.post("/tokens/1/delete", {}, navigation);

  const logged = (await logEntries(service)).filter(
    ({ event, record }) => event === "downloaded" || record?.kind === "token",
  );
  assert.deepEqual(
    logged.map((entry) => [entry.who, entryText(entry)]),
    [
      [
        "boss",
        "created token 1 for printer:1: name for printer:1; scope printer; scope_id 1; expires_at 2027-11-21T14:05:00.000Z",
      ],
      ["token for printer:1", "downloaded printer 1 Office detect"],
      ["boss", "deleted token 1 for printer:1"],
    ],
  );
  assert.ok(!JSON.stringify(entriesIn(service.dataDir)).includes(token.slice(7)));
});

test("making, using and revoking links is logged without their signatures", async (t) => {
  const { service, operator } = await startGuarded(t);
  await operator.addPrinter();

  const form = { address: "/printers/1/scripts/detect", days: "7" };
  const page = await (await operator.post("/printers/1/links", form, navigation)).text();
  const link = /\?link=([\w.-]+)/.exec(page)?.[1] ?? "";
  await (await service.fetch(`/printers/1/scripts/detect?link=${link}`)).arrayBuffer();
  await operator.post("/printers/1/links/end", {}, navigation);

  const logged = await logEntries(service, "link-made", "downloaded", "links-ended");
  // All have the same time, so their order is undefined.
  assert.deepEqual(logged.map((entry) => `${entry.who}: ${entryText(entry)}`).sort(), [
    "link printer 1, until 2026-11-29: downloaded printer 1 Office detect",
    "tech: link-made printer 1 Office /printers/1/scripts/detect, until 2026-11-29",
    "tech: links-ended printer 1 Office",
  ]);
  assert.ok(!JSON.stringify(entriesIn(service.dataDir)).includes(link));
});

test("making and downloading a backup, and deleting kept archives, is logged", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });

  await service.post("/backups", {}, navigation);
  await service.post("/backups", {}, navigation);
  const [{ name } = { name: "" }] = service.app.backups.list();
  await (await service.fetch(`/backups/${name}`)).arrayBuffer();
  await service.post("/backups/files/delete", {}, navigation);

  const logged = await logEntries(service, "backup-made", "backup-fetched", "backup-files-deleted");
  assert.deepEqual(logged.map(entryText).sort(), [
    `backup-fetched ${name}`,
    "backup-files-deleted",
    "backup-made",
  ]);
});

test("a download in parts is logged once as complete, for the client that got the last byte", async (t) => {
  const { service, operator, viewer } = await startGuarded(t);
  await operator.addPrinter();
  const path = "/printers/1/scripts/detect";
  const part = async (who: typeof viewer, range: string) =>
    (await who.fetch(path, { headers: { range: `bytes=${range}` } })).arrayBuffer();

  await part(operator, "0-99");
  await part(viewer, "100-");
  await until(async () => (await logEntries(service, "downloaded")).length > 0);
  const logged = await logEntries(service, "download-begun", "downloaded");

  assert.deepEqual(
    logged.map(({ who, event, range }) => `${who} ${event} ${range?.first ?? ""}`),
    ["tech download-begun 0", "seller downloaded "],
  );
});
