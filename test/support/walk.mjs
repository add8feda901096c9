// Walks through a running service as a new user does, without anything of the tests' own process: node walk.mjs BUNDLE ZIP.
// It starts the bundle, uploads the ZIP, makes a printer and its packages, reads every page that links lead to, and prints
// one JSON object: { pages: { path: markup }, statuses: { path: status }, output }.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const [bundle = "", zip = ""] = process.argv.slice(2);
let output = "";
const service = spawn(process.execPath, [bundle], { stdio: ["ignore", "pipe", "pipe"] });
const url = await new Promise((resolve) => {
  const take = (/** @type {string} */ text) => {
    output += text;
    const port = /localhost:(\d+)/.exec(output)?.[1];
    if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
  };
  service.stdout.setEncoding("utf8").on("data", take);
  service.stderr.setEncoding("utf8").on("data", take);
});

const file = new FormData();
file.set("file", new Blob([readFileSync(zip)]), "driver.zip");
await post("/drivers/upload", file);
await post("/clients", new URLSearchParams({ name: "Contoso" }));
await post(
  "/printers",
  new URLSearchParams({ name: "Hall", address: "10.0.0.9", client_id: "1", driver_id: "1" }),
);

/** @type {Record<string, string>} */
const pages = {};
/** @type {Record<string, number>} */
const statuses = {};
const waiting = ["/"];
for (const path of waiting) {
  const answer = await fetch(url + path, { headers: { accept: "text/html" } });
  statuses[path] = answer.status;
  const isText = /html|css|javascript|svg/.test(answer.headers.get("content-type") ?? "");
  if (!isText) await answer.arrayBuffer();
  else {
    const text = await answer.text();
    pages[path] = text;
    for (const [, found = ""] of text.matchAll(/\s(?:href|src)="(\/[^"#]*)/g)) {
      const next = found.replaceAll("&amp;", "&");
      if (!waiting.includes(next) && waiting.length < 400) waiting.push(next);
    }
  }
}
service.kill();
console.log(JSON.stringify({ pages, statuses, output }));

/** @param {string} path @param {FormData | URLSearchParams} body */
async function post(path, body) {
  await (await fetch(url + path, { method: "POST", body })).text();
}
