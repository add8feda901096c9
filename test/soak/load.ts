import { deflateRawSync } from "node:zlib";
import { adminHeaders } from "../support/access/proxies.ts";
import { client, navigation, type TestApp } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { refused } from "../support/drivers/refused-zips.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { makePng } from "../support/printers/png.ts";
import { connectRaw, exchange, hangUpAfter, postText, statusOf } from "../support/raw.ts";
import { accountForAWhile, signInAndOut, tokenForAWhile } from "./people.ts";

/** One action, which leaves the service as it was. @returns the statuses of its responses */
type Activity = (round: number) => Promise<number[]>;

/** The records that exist for the whole run. */
interface Shop {
  readonly client: number;
  readonly driver: number;
  readonly printers: readonly number[];
}

type Client = Pick<TestApp, "fetch" | "post" | "upload" | "addDriver" | "addPrinter">;

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

export async function createShop(url: string): Promise<Shop> {
  const manager = client(url, adminHeaders);
  await manager.post("/clients", { name: "Contoso" });
  const driver = await manager.addDriver(driverOf(0, 4));
  const printers: number[] = [];
  for (let i = 0; i < 20; i++) {
    printers.push(await manager.addPrinter({ name: `P${i}`, client_id: "1", driver_id: String(driver) }));
  }
  return { client: 1, driver, printers };
}

const statuses = async (answers: Promise<Response>[]): Promise<number[]> => {
  const all = await Promise.all(answers);
  await Promise.all(all.map((answer) => answer.arrayBuffer()));
  return all.map(({ status }) => status);
};

/** Deletes a record and makes the deletion final. @param isUndoneFirst whether it is undone and deleted again */
async function remove({ post }: Client, path: string, isUndoneFirst = false): Promise<number[]> {
  const deleted = await post(`${path}/delete`, {}, navigation);
  const undo = /[?&]undo=(\d+)/.exec(deleted.headers.get("location") ?? "")?.[1];
  await deleted.arrayBuffer();
  if (undo === undefined) return [deleted.status, 0];
  if (isUndoneFirst) {
    const [back = 0] = await statuses([post(`/deletions/${undo}/undo`, {}, navigation)]);
    return [deleted.status, back, ...(await remove({ post } as Client, path))];
  }
  return [deleted.status, ...(await statuses([post(`/deletions/${undo}/delete`, {}, navigation)]))];
}

const boss = Object.entries(adminHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${boss}\r\n`;

/** The time for which a stalled client keeps its connection. */
const stallMs = 3_000;

async function stall(url: string, bytes: Buffer | string): Promise<number[]> {
  const raw = await connectRaw(url);
  raw.socket.write(bytes);
  raw.socket.pause();
  await new Promise((resolve) => setTimeout(resolve, stallMs));
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
export function activities(url: string, shop: Shop): Record<string, Activity> {
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
    "signing in": (round) => signInAndOut(url, round),
    accounts: (round) => accountForAWhile(url, round),
    tokens: (round) => tokenForAWhile(url, printer(round), round),
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
