import { deflateRawSync } from "node:zlib";
import { bossHeaders } from "../support/access/proxies.ts";
import { client, navigation, type TestApp } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { refused } from "../support/drivers/refused-zips.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { makePng } from "../support/printers/png.ts";
import { connectRaw, exchange, hangUpAfter, postText, statusOf } from "../support/raw.ts";
import { accountForAWhile, signInAndOut, tokenForAWhile } from "./people.ts";

/** One thing that somebody does; it leaves the service as it was. @returns the statuses it got */
type Act = (turn: number) => Promise<number[]>;

/** What stays for the whole run. */
interface Shop {
  readonly client: number;
  readonly driver: number;
  readonly printers: readonly number[];
}

type Site = Pick<TestApp, "fetch" | "post" | "upload" | "addDriver" | "addPrinter">;

/** Bytes that nothing packs further, other ones for each seed. */
function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = seed; at + 4 <= length; at += 4) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes.writeUInt32LE(state, at);
  }
  return bytes;
}

/** A driver of some megabytes that is like no other. */
function driverOf(turn: number, megabytes: number): Buffer {
  const large = { name: "large.bin", bytes: noise(megabytes << 20, turn + 1), method: 0 };
  return driverZip({ version: `1.0.${turn >> 15}.${turn & 0x7fff}`, extra: [large] });
}

export async function openShop(url: string): Promise<Shop> {
  const site = client(url, bossHeaders);
  await site.post("/clients", { name: "Contoso" });
  const driver = await site.addDriver(driverOf(0, 4));
  const printers: number[] = [];
  for (let i = 0; i < 20; i++) {
    printers.push(await site.addPrinter({ name: `P${i}`, client_id: "1", driver_id: String(driver) }));
  }
  return { client: 1, driver, printers };
}

const statuses = async (answers: Promise<Response>[]): Promise<number[]> => {
  const all = await Promise.all(answers);
  await Promise.all(all.map((answer) => answer.arrayBuffer()));
  return all.map(({ status }) => status);
};

/** Deletes a record and ends the time in which that can be taken back, or takes it back once first. */
async function remove({ post }: Site, path: string, isTakenBack = false): Promise<number[]> {
  const deleted = await post(`${path}/delete`, {}, navigation);
  const undo = /[?&]undo=(\d+)/.exec(deleted.headers.get("location") ?? "")?.[1];
  await deleted.arrayBuffer();
  if (undo === undefined) return [deleted.status, 0];
  if (isTakenBack) {
    const [back = 0] = await statuses([post(`/deletions/${undo}/undo`, {}, navigation)]);
    return [deleted.status, back, ...(await remove({ post } as Site, path))];
  }
  return [deleted.status, ...(await statuses([post(`/deletions/${undo}/delete`, {}, navigation)]))];
}

const boss = Object.entries(bossHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${boss}\r\n`;

/** So long a client that stands still is left alone. */
const standMs = 3_000;

async function standStill(url: string, bytes: Buffer | string): Promise<number[]> {
  const raw = await connectRaw(url);
  raw.socket.write(bytes);
  raw.socket.pause();
  await new Promise((resolve) => setTimeout(resolve, standMs));
  raw.socket.destroy();
  await raw.closed;
  return [];
}

/** Archives that are refused, or cost more than they look. */
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

/** Everything that people, scripts and strangers do, by its name; each is done again and again by one of them. */
export function acts(url: string, shop: Shop): Record<string, Act> {
  const site = client(url, bossHeaders);
  const { fetch, post, upload, addDriver, addPrinter } = site;
  const printer = (turn: number) => shop.printers[turn % shop.printers.length] ?? 0;
  const zips = hostileZips();
  const form = "application/x-www-form-urlencoded";
  const uploadHead = (bytes: number) =>
    `POST /drivers/upload HTTP/1.1\r\nHost: localhost\r\n${boss}Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${bytes}\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;
  return {
    pages: (turn) =>
      statuses([
        fetch("/"),
        fetch("/printers?q=p"),
        fetch(`/printers/${printer(turn)}`),
        fetch(`/printers/${printer(turn)}/read/install`),
        fetch(`/clients/${shop.client}`),
        fetch(`/drivers/${shop.driver}`),
        fetch(`/search?q=${turn}`),
        fetch("/packages"),
        fetch("/import"),
        fetch(`/nothing/${turn}`),
      ]),
    forms: async (turn) => {
      const id = await addPrinter({ name: `Form ${turn}`, driver_id: String(shop.driver) });
      const changed = await statuses([
        post(
          `/printers/${id}`,
          { name: `Changed ${turn}`, address: "10.0.0.8", driver_id: String(shop.driver) },
          navigation,
        ),
        upload(`/printers/${id}/icon`, makePng(64 + (turn % 64)), "icon.png", navigation),
        post("/printers", { name: "", address: "nonsense" }),
        post("/clients", { name: "x".repeat(300_000) }),
      ]);
      return [...changed, ...(await remove(site, `/printers/${id}`, turn % 3 === 0))];
    },
    uploads: async (turn) => {
      const id = await addDriver(driverOf(turn + 1, 2));
      const made = await addPrinter({ name: `Driver ${turn}`, driver_id: String(id) });
      const got = await statuses([
        fetch(`/printers/${made}/packages/mdm`),
        fetch(`/printers/${made}/packages/rmm`),
        fetch(`/drivers/${id}/files`),
        upload("/drivers/upload", driverOf(0, 4)),
      ]);
      return [
        ...got,
        ...(await remove(site, `/printers/${made}`)),
        ...(await remove(site, `/drivers/${id}`)),
      ];
    },
    packages: (turn) =>
      statuses([
        fetch(`/printers/${printer(turn)}/packages/mdm`),
        fetch(`/printers/${printer(turn)}/packages/rmm?driver=apart`),
        fetch(`/printers/${printer(turn)}/scripts/install`),
        fetch(`/clients/${shop.client}/packages/rmm`, { headers: { range: "bytes=1000-200000" } }),
        fetch(`/drivers/${shop.driver}/archive`, { headers: { range: "bytes=99999999-" } }),
        fetch("/export/printers.csv"),
      ]),
    lists: async (turn) => {
      const rows = Array.from({ length: 100 }, (_, i) => `Row ${turn} ${i},Contoso,10.1.${turn % 250}.${i}`);
      const text = `name,client,address\n${rows.join("\n")}`;
      return statuses([post("/import/preview", { text }), post("/import/preview", { text: `${text},"` })]);
    },
    "signing in": (turn) => signInAndOut(url, turn),
    accounts: (turn) => accountForAWhile(url, turn),
    tokens: (turn) => tokenForAWhile(url, printer(turn), turn),
    "broken downloads": async (turn) => {
      const raw = await connectRaw(url);
      raw.socket.write(get(`/printers/${printer(turn)}/packages/${turn % 2 === 0 ? "mdm" : "rmm"}`));
      await raw.until(/\r\n\r\n/);
      raw.socket.destroy();
      await raw.closed;
      return [statusOf(raw.text())];
    },
    "broken uploads": async (turn) => {
      await hangUpAfter(url, Buffer.concat([Buffer.from(uploadHead(9e6)), noise(50_000 + turn, 3)]));
      return [];
    },
    "slow clients": async (turn) => {
      const slow = [
        "GET / HTTP/1.1\r\nHost: localh",
        uploadHead(9e6),
        postText("/clients", form, "name=", { length: 200_000 }),
        get(`/printers/${printer(turn)}/packages/rmm`),
        get("/printers").repeat(20),
      ];
      return (await Promise.all(slow.map((bytes) => standStill(url, bytes)))).flat();
    },
    "hostile ZIPs": async (turn) =>
      statuses([upload("/drivers/upload", zips[turn % zips.length] ?? Buffer.alloc(0))]),
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
