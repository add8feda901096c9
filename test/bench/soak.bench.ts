// Runs the bundled service under a mixed load for SOAK_MINUTES: npm run bench -- soak. What it uses while idle must not grow.
// SOAK_PAUSE_MS is the pause after each action of an activity.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { verifyAudit } from "../../src/store/audit/verify.ts";
import { adminPassword, cookiesOf } from "../support/access/people.ts";
import { adminHeaders, proxySettings } from "../support/access/proxies.ts";
import { client, navigation } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { refused } from "../support/drivers/refused-zips.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { makePng } from "../support/printers/png.ts";
import { connectRaw, exchange, hangUpAfter, postText, statusOf } from "../support/raw.ts";
import { folder, growth, memory, report, type Sample, type Service, sleep, startService } from "./measure.ts";

const minutes = Number(process.env.SOAK_MINUTES ?? 30);
const pauseMs = Number(process.env.SOAK_PAUSE_MS ?? 50);
/** The time between samples: a minute, or less so that a run has fifteen. */
const sampleMs = Math.min(60_000, (minutes * 60_000) / 15);
const dataDir = join(folder, "data");
const temporary = join(folder, "tmp");

/** What the service has on disk. Backups and the audit log may grow. */
function filesNow(): string[] {
  const below = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const kept = below(dataDir).filter((name) => !/^(?:backups|audit)(?:[\\/]|$)/.test(name));
  return [...kept, ...below(temporary).map((name) => `tmp: ${name}`)];
}

/** One action, which leaves the service as it was. @returns the statuses of its responses */
type Activity = (round: number) => Promise<number[]>;
type Client = ReturnType<typeof client>;

/** Incompressible bytes, different for each seed. */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = seed; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes.writeUInt32LE(state, at);
  }
  return bytes;
}

/** A unique driver of this many megabytes. */
function driverOf(round: number, megabytes: number): Buffer {
  const large = { name: "large.bin", bytes: noise(megabytes << 20, round + 1), method: 0 };
  return driverZip({ version: `1.0.${round >> 15}.${round & 0x7fff}`, extra: [large] });
}

/** The records that exist for the whole run: a client, its driver and twenty printers. */
const shop = { client: 1, driver: 1, printers: Array.from({ length: 20 }, (_, i) => i + 1) };

async function createShop(url: string): Promise<void> {
  const manager = client(url, adminHeaders);
  await manager.post("/clients", { name: "Contoso" });
  await manager.addDriver(driverOf(0, 4));
  for (const i of shop.printers) await manager.addPrinter({ name: `P${i}`, client_id: "1", driver_id: "1" });
}

/** Waits for all responses. */
const statuses = async (answers: Promise<Response>[]): Promise<number[]> => {
  const all = await Promise.all(answers);
  await Promise.all(all.map((answer) => answer.arrayBuffer()));
  return all.map(({ status }) => status);
};

/** Sends requests one by one. @returns the statuses */
async function inOrder(requests: readonly (() => Promise<Response>)[]): Promise<number[]> {
  const found: number[] = [];
  for (const request of requests) found.push(...(await statuses([request()])));
  return found;
}

/** Deletes a record and makes the deletion final. @param isUndoneFirst whether it is undone and deleted again */
async function remove(manager: Client, path: string, isUndoneFirst = false): Promise<number[]> {
  const { post } = manager;
  const deleted = await post(`${path}/delete`, {}, navigation);
  const undo = /[?&]undo=(\d+)/.exec(deleted.headers.get("location") ?? "")?.[1];
  await deleted.arrayBuffer();
  if (undo === undefined) return [deleted.status, 0];
  if (!isUndoneFirst)
    return [deleted.status, ...(await statuses([post(`/deletions/${undo}/delete`, {}, navigation)]))];
  const back = await statuses([post(`/deletions/${undo}/undo`, {}, navigation)]);
  return [deleted.status, ...back, ...(await remove(manager, path))];
}

const boss = Object.entries(adminHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${boss}\r\n`;

/** Sends bytes, and keeps the connection for three seconds without reading. */
async function stall(url: string, bytes: Buffer | string): Promise<number[]> {
  const raw = await connectRaw(url);
  raw.socket.write(bytes);
  raw.socket.pause();
  await sleep(3000);
  raw.socket.destroy();
  await raw.closed;
  return [];
}

/** Archives that are refused, or expensive to read for their size. */
function hostileZips(): Buffer[] {
  const entries = Array.from({ length: 5000 }, (_, i) => ({ name: `d/${i}`, bytes: "x", method: 0 }));
  return [
    ...refused.map(([, , parts, options]) => makeZip(parts, options)),
    driverZip({
      models: Array.from({ length: 20_000 }, (_, i) => `Model ${i}`),
      files: ["gone.dll"],
    }).subarray(40),
    makeZip([{ name: "a.inf", bytes: printerInf({ models: ["x".repeat(3_000_000)] }), flags: 1 }]),
    makeZip([...entries, { name: "a.inf", bytes: `[${" ".repeat(60_000)}x` }, { name: "../up", bytes: "x" }]),
    deflateRawSync(noise(100_000, 7)),
  ];
}

/** Everything that people, scripts and attackers do, by name. Each activity runs repeatedly, beside the others. */
function activities(url: string): Record<string, Activity> {
  const manager = client(url, adminHeaders);
  const { fetch, post, upload, addDriver, addPrinter } = manager;
  const printer = (round: number) => shop.printers[round % shop.printers.length] ?? 0;
  const zips = hostileZips();
  const form = "application/x-www-form-urlencoded";
  const uploadHead = (bytes: number) =>
    `POST /drivers/upload HTTP/1.1\r\nHost: localhost\r\n${boss}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${bytes}\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
  return {
    pages: (round) =>
      statuses([
        fetch("/"),
        fetch("/printers?q=p"),
        fetch(`/printers/${printer(round)}`),
        fetch(`/printers/${printer(round)}/read/install`),
        fetch(`/clients/${shop.client}`),
        fetch(`/drivers/${shop.driver}`),
        fetch(`/search?q=${round}`),
        fetch("/packages"),
        fetch("/import"),
        fetch(`/nothing/${round}`),
      ]),
    forms: async (round) => {
      const id = await addPrinter({ name: `Form ${round}`, driver_id: String(shop.driver) });
      const changed = await statuses([
        post(
          `/printers/${id}`,
          { name: `Changed ${round}`, address: "10.0.0.8", driver_id: String(shop.driver) },
          navigation,
        ),
        upload(`/printers/${id}/icon`, makePng(64 + (round % 64)), "icon.png", navigation),
        post("/printers", { name: "", address: "nonsense" }),
        post("/clients", { name: "x".repeat(300_000) }),
      ]);
      return [...changed, ...(await remove(manager, `/printers/${id}`, round % 3 === 0))];
    },
    uploads: async (round) => {
      const id = await addDriver(driverOf(round + 1, 2));
      const made = await addPrinter({ name: `Driver ${round}`, driver_id: String(id) });
      const got = await statuses([
        fetch(`/printers/${made}/packages/mdm`),
        fetch(`/printers/${made}/packages/rmm`),
        fetch(`/drivers/${id}/files`),
        upload("/drivers/upload", driverOf(0, 4)),
      ]);
      return [
        ...got,
        ...(await remove(manager, `/printers/${made}`)),
        ...(await remove(manager, `/drivers/${id}`)),
      ];
    },
    packages: (round) =>
      statuses([
        fetch(`/printers/${printer(round)}/packages/mdm`),
        fetch(`/printers/${printer(round)}/packages/rmm?driver=apart`),
        fetch(`/printers/${printer(round)}/scripts/install`),
        fetch(`/clients/${shop.client}/packages/rmm`, { headers: { range: "bytes=1000-200000" } }),
        fetch(`/drivers/${shop.driver}/archive`, { headers: { range: "bytes=99999999-" } }),
        fetch("/export/printers.csv"),
      ]),
    lists: async (round) => {
      const rows = Array.from(
        { length: 100 },
        (_, i) => `Row ${round} ${i},Contoso,10.1.${round % 250}.${i}`,
      );
      const text = `name,client,address\n${rows.join("\n")}`;
      return statuses([post("/import/preview", { text }), post("/import/preview", { text: `${text},"` })]);
    },
    "signing in": async (round) => {
      const answer = await client(url).post("/sign-in", { name: "admin", password: adminPassword });
      const own = client(url, { cookie: cookiesOf(answer) });
      const guess = { name: `nobody${round % 50}`, password: `guess ${round}` };
      const account = () => own.fetch("/account");
      const signOut = () => own.post("/sign-out", {});
      return [
        answer.status,
        ...(await inOrder([account, () => client(url).post("/sign-in", guess), signOut, account])),
      ];
    },
    accounts: async (round) => {
      const name = `person${round}`;
      await post("/accounts", { name, role: "viewer" });
      const list = await (await fetch("/accounts")).text();
      const path = `/accounts/${new RegExp(`href="/accounts/(\\d+)">${name}<`).exec(list)?.[1]}`;
      return inOrder([
        () => post(path, { role: "operator" }),
        () => post(`${path}/password`, {}),
        () => post(`${path}/disable`, {}),
        () => post(`${path}/delete`, {}),
        () => fetch(`/audit?q=${name}`),
      ]);
    },
    tokens: async (round) => {
      const path = `/printers/${printer(round)}`;
      const scope = `printer:${printer(round)}`;
      const page = await (await post("/tokens", { name: `token${round}`, scope, days: "30" })).text();
      const bearer = client(url, { authorization: `Bearer ${/platen_\w{39}/.exec(page)?.[0]}` });
      // The newest is first.
      const id = /action="\/tokens\/(\d+)\/delete"/.exec(page)?.[1];
      return inOrder([
        () => bearer.fetch(`${path}/scripts/install`),
        () => bearer.fetch("/printers"),
        () => post(`/tokens/${id}/delete`, {}),
        () => bearer.fetch(`${path}/scripts/install`),
        () => post(`${path}/links/end`, {}),
      ]);
    },
    "broken downloads": async (round) => {
      const raw = await connectRaw(url);
      raw.socket.write(get(`/printers/${printer(round)}/packages/${round % 2 === 0 ? "mdm" : "rmm"}`));
      await raw.until(/\r\n\r\n/);
      raw.socket.destroy();
      await raw.closed;
      return [statusOf(raw.text())];
    },
    "broken uploads": async (round) => {
      await hangUpAfter(url, Buffer.concat([Buffer.from(uploadHead(9e6)), noise(50_000 + round, 3)]));
      return [];
    },
    "slow clients": async (round) => {
      const slow = [
        "GET / HTTP/1.1\r\nHost: localh",
        uploadHead(9e6),
        postText("/clients", form, "name=", { length: 200_000 }),
        get(`/printers/${printer(round)}/packages/rmm`),
        get("/printers").repeat(20),
      ];
      return (await Promise.all(slow.map((bytes) => stall(url, bytes)))).flat();
    },
    "hostile ZIPs": async (round) =>
      statuses([upload("/drivers/upload", zips[round % zips.length] ?? Buffer.alloc(0))]),
    "broken requests": async () => {
      const requests = [
        "no HTTP\r\n\r\n",
        `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        postText("/clients", form, "name=A", { host: "evil.example" }),
      ];
      return Promise.all(requests.map((request) => exchange(url, request).then(statusOf)));
    },
  };
}

/** Pauses all activities between their actions. */
class Gate {
  #waiting: (() => void)[] = [];
  #isClosed = false;
  #busy = 0;

  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy++;
    return work().finally(() => {
      this.#busy--;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#busy > 0) await sleep(50);
  }

  open(): void {
    this.#isClosed = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}

/** Measures the service while it is idle and after idle connections are closed. */
async function sample({ process: child }: Service, minute: number): Promise<Sample> {
  const descriptors = () => readdirSync(`/proc/${child.pid}/fd`).length;
  let stableCount = 0;
  for (let before = -1, looks = 0; stableCount < 12 && looks < 60; looks++) {
    const now = descriptors();
    stableCount = now === before ? stableCount + 1 : 0;
    before = now;
    await sleep(500);
  }
  return { minute, rss: memory(child).now, descriptors: descriptors(), files: filesNow().length };
}

async function soak(): Promise<string[]> {
  mkdirSync(temporary);
  // Sign-in is on, with roles from a proxy and with passwords.
  const settings = { TMPDIR: temporary, ADMIN_PASSWORD: adminPassword, ...proxySettings };
  const service = await startService(undefined, "data", settings);
  await createShop(service.url);
  const gate = new Gate();
  const tallies = new Map<string, Map<number, number>>();
  const problems: string[] = [];
  const ends = Date.now() + minutes * 60_000;
  const running = Object.entries(activities(service.url)).map(async ([name, activity]) => {
    const tally = new Map<number, number>();
    tallies.set(name, tally);
    for (let round = 0; Date.now() < ends; round++) {
      const found = await gate
        .pass(() => activity(round))
        .catch((error: Error) => {
          problems.push(`${name}, round ${round}: ${error.message}`);
          return [];
        });
      for (const status of found) tally.set(status, (tally.get(status) ?? 0) + 1);
      await sleep(pauseMs);
    }
  });
  // The first sample comes after every activity has run a few times.
  await sleep(Math.min(sampleMs, 15_000));
  await gate.close();
  await sample(service, 0);
  const filesBefore = filesNow();
  gate.open();
  const samples: Sample[] = [];
  while (Date.now() + sampleMs < ends) {
    await sleep(sampleMs);
    await gate.close();
    samples.push(await sample(service, (minutes * 60_000 - (ends - Date.now())) / 60_000));
    gate.open();
  }
  await Promise.all(running);
  await sample(service, minutes);
  const filesAfter = filesNow();
  await service.stop();
  report(`Soak: ${minutes} minutes`, [
    ["minute", "resident memory", "descriptors", "files"],
    ...samples.map((each) => [
      each.minute.toFixed(1),
      `${each.rss.toFixed(0)} MiB`,
      `${each.descriptors}`,
      `${each.files}`,
    ]),
  ]);
  report("Answers", [
    ["activity", "answers"],
    ...[...tallies].map(([name, tally]) => [
      name,
      [...tally].map(([status, n]) => `${status} × ${n}`).join(", "),
    ]),
  ]);
  const { broken, isTorn } = await verifyAudit(dataDir);
  return [
    ...(broken === undefined && !isTorn ? [] : [`the audit log is broken: ${broken?.what ?? "torn"}`]),
    ...problems.slice(0, 20),
    ...growth(samples),
    ...filesAfter.filter((name) => !filesBefore.includes(name)).map((name) => `left behind: ${name}`),
    ...service.lines.filter((line) => /error [0-9a-f]{8}|Warning/.test(line)).slice(0, 20),
  ];
}

soak().then(
  (problems) => {
    for (const problem of problems) console.log(`SOAK: ${problem}`);
    console.log(problems.length === 0 ? "\nflat: nothing grew, nothing was left behind" : "\nnot flat");
    process.exit(problems.length === 0 ? 0 : 1);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
