import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { startFullShop } from "../support/backup/backup.ts";
import { command } from "../support/commands.ts";
import { sign } from "../support/deploy/authenticode.ts";
import { isDeep } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makeOnce } from "../support/filled.ts";
import { makePng } from "../support/printers/png.ts";
import { makePreferences } from "../support/printers/preferences-files.ts";

const clientPng = makePng(256, 256, 10);

/** Signs the installation script of the first printer. */
async function signInstall({ fetch }: TestApp): Promise<void> {
  const scripts = (await (await fetch("/signatures?all=1")).json()) as { digest: string; name: string }[];
  const digest = scripts.find(({ name }) => /^install-office\.ps1$/.test(name))?.digest;
  const body = sign(await bytesOf(fetch(`/signatures/${digest}`)));
  assert.equal(
    (await fetch(`/signatures/${digest}`, { method: "POST", body: new Uint8Array(body) })).status,
    204,
  );
}

/** Stored files of every kind. The second printer has the icon of its client. */
async function makeData(t: TestContext, folder: string): Promise<void> {
  const shop = await startFullShop(t, join(folder, "data"));
  await shop.post("/printers/1", { name: "Office", address: "10.0.0.7", driver_id: "1", client_id: "1" });
  await shop.addPrinter({ name: "Desk", address: "10.0.0.8", driver_id: "1", client_id: "1" });
  await shop.upload("/clients/1/icon", clientPng, "icon.png");
  await signInstall(shop);
  await shop.post("/backups", {});
  await shop.stop();
}

const damages = {
  "cut in half": (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
  zeroed: (bytes: Buffer) => Buffer.alloc(bytes.length),
  "one bit": (bytes: Buffer) => {
    const changed = Buffer.from(bytes);
    const at = bytes.length >> 1;
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return changed;
  },
} as const;

interface Kind {
  /** The start of its name in the data folder, and the size if several have it. */
  readonly file: string;
  readonly size?: number;
  readonly page: string;
  readonly package: string;
  /** What answers of the page, the package, the dashboard, `platen backup` and the start must say. */
  readonly says: Partial<Record<"page" | "package" | "dashboard" | "backup" | "start" | "verify", RegExp>>;
  /** Puts the file right. */
  readonly mend?: (service: TestApp) => Promise<unknown>;
  /** The damages of the quick tier. */
  readonly quick?: keyof typeof damages;
}

const named = (folder: string) => new RegExp(`warning: ${folder}\\S* is damaged in DATA_DIR`);
const again = /^422 .* is damaged on the server\. Upload it again, or delete it\./;
const zipAgain = /^422 .* is damaged on the server\. Upload driver\.zip again\./;

const kinds: Readonly<Record<string, Kind>> = {
  "driver ZIP": {
    file: "drivers/",
    page: "/drivers/1/archive",
    package: "/printers/1/packages/rmm",
    says: {
      page: zipAgain,
      package: zipAgain,
      dashboard: /1 driver cannot be installed/,
      backup: named("drivers/"),
    },
    mend: ({ upload }) => upload("/drivers/upload", driverZip()),
  },
  "icon of a printer": {
    file: "icons/",
    size: makePng().length,
    page: "/printers/1/icon",
    package: "/printers/1/packages/mdm",
    says: {
      page: again,
      package: again,
      dashboard: /1 file is missing or damaged: upload the icon of “Office” again/,
      backup: named("icons/"),
    },
    mend: ({ upload }) => upload("/printers/1/icon", makePng(), "icon.png"),
    quick: "one bit",
  },
  "icon of a client": {
    file: "icons/",
    size: clientPng.length,
    page: "/clients/1/icon",
    package: "/printers/2/packages/mdm",
    says: {
      page: again,
      package: again,
      dashboard: /1 file is missing or damaged: upload the icon of “Contoso” again/,
      backup: named("icons/"),
    },
    mend: ({ upload }) => upload("/clients/1/icon", clientPng, "icon.png"),
  },
  preferences: {
    file: "preferences/",
    page: "/printers/1/preferences",
    package: "/printers/1/packages/rmm",
    says: {
      page: again,
      package: again,
      dashboard: /1 file is missing or damaged: upload the preferences file of “Office” again/,
      backup: named("preferences/"),
    },
    mend: ({ upload }) => upload("/printers/1/preferences", makePreferences(), "preferences.dat"),
    quick: "one bit",
  },
  signature: {
    file: "signatures/",
    page: "/signatures",
    package: "/printers/1/packages/rmm",
    says: {
      package:
        /^422 The signature of the script .* is missing or damaged on the server\. Run sign\.ps1 again\./,
      dashboard: /1 damaged signature: run sign\.ps1 again \(install-office\.ps1\)/,
      backup: named("signatures/"),
    },
    mend: signInstall,
    quick: "one bit",
  },
  secret: {
    file: "secret",
    page: "/",
    package: "/printers/1/packages/rmm",
    says: {
      start:
        /secret is damaged, or belongs to another database\. Put the one from a backup in its place\. Or delete it/,
      backup: named("secret"),
    },
    quick: "zeroed",
  },
  "platen.sqlite": {
    file: "platen.sqlite",
    page: "/",
    package: "/printers/1/packages/rmm",
    says: {
      start: /platen\.sqlite cannot be read as a database .*--recover/s,
      backup: /no backup was made: .*platen\.sqlite cannot be read as a database .*--recover/s,
    },
  },
  "a kept database": {
    file: "backups/platen-",
    page: "/backups",
    package: "/printers/1/packages/rmm",
    says: { page: /manual unknown [\d.]+ KB Damaged it|manual unknown [\d.]+ KB Damaged / },
  },
  "an audit file": {
    file: "audit/",
    page: "/audit",
    package: "/printers/1/packages/rmm",
    says: { backup: named("audit/"), verify: /./ },
  },
};

/** The answer to a request as one line: its status, and the text of an error or a page. */
async function said({ fetch }: TestApp, path: string): Promise<string> {
  const answer = await fetch(path, { headers: { accept: "text/plain" } });
  const isText = /text\/(?:plain|html)|json/.test(answer.headers.get("content-type") ?? "");
  const bytes = await answer.arrayBuffer();
  return `${answer.status} ${answer.status === 200 && !isText ? "" : plain(Buffer.from(bytes).toString())}`;
}

const plain = (text: string) =>
  text
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** What everything says about a damaged file. */
async function observe(t: TestContext, kind: Kind, damage: (bytes: Buffer) => Buffer) {
  const { folder } = await makeOnce(t, makeData);
  const dataDir = join(folder, "data");
  const name = filesBelow(dataDir).find(
    (one) =>
      one.startsWith(kind.file) &&
      (kind.size ?? statSync(join(dataDir, one)).size) === statSync(join(dataDir, one)).size,
  );
  assert.ok(name, kind.file);
  const path = join(dataDir, name);
  const { atime, mtime } = statSync(path);
  writeFileSync(path, damage(readFileSync(path)));
  utimesSync(path, atime, mtime);

  const verify = kind.says.verify && JSON.stringify((await verifyAudit(dataDir)).broken);
  const { stderr: backup } = await command(dataDir, "backup", join(folder, "all.tar"));
  const service = await startApp(t, { dataDir, clock: Date.now }).catch((error: Error) => error);
  if (service instanceof Error) return { start: service.message, backup };
  await service.app.archives.finished();
  service.app.backups.start();
  await service.app.backups.waitForWork();
  const found = {
    start: ["starts", ...service.lines].join(" | "),
    page: await said(service, kind.page),
    package: await said(service, kind.package),
    dashboard: needsIn(await said(service, "/")),
    ...{ backup, verify },
  };
  await kind.mend?.(service);
  const mended = [await said(service, kind.package), needsIn(await said(service, "/"))].join(" ");
  await service.stop();
  return { ...found, mended };
}

const needsIn = (page: string) => /Needs attention(.*?)Recent printers/.exec(page)?.[1]?.trim() ?? "";

function filesBelow(dataDir: string): string[] {
  const names = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).sort();
  return names.filter((one) => statSync(join(dataDir, one)).isFile());
}

for (const [what, kind] of Object.entries(kinds)) {
  for (const [how, damage] of Object.entries(damages)) {
    if (!isDeep && kind.quick !== how) continue;
    test(`${what}, ${how}: page, package, backup and start say it, and how to put it right`, {
      skip: without.osslsigncode,
    }, async (t) => {
      const found = await observe(t, kind, damage);

      for (const [where, text = ""] of Object.entries(found)) t.diagnostic(`${where}: ${text.slice(0, 300)}`);
      for (const [where, expected] of Object.entries(kind.says))
        assert.match(found[where as keyof typeof found] ?? "", expected, where);
      if (kind.mend)
        assert.doesNotMatch("mended" in found ? found.mended : "", /^422|damaged|cannot be installed/);
    });
  }
}
