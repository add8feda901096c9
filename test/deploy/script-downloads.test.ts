import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";

test("a script downloaded alone contains the address of its service only if that is a plain host", async (t) => {
  const { url, addPrinter, fetch } = await startApp(t);
  const id = await addPrinter();
  const raw = (host: string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(url);
      let text = "";
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET /printers/${id}/scripts/install HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        ),
      );
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
    });

  const own = await (await fetch(`/printers/${id}/scripts/install`)).text();
  const named = await raw("platen.lan:8080");
  const odd = await raw("a'b;c");
  const fixed = await startApp(t, { publicUrl: "https://platen.example/sub" });
  const fixedText = await (await fixed.fetch(`/printers/${await fixed.addPrinter()}/scripts/install`)).text();

  assert.ok(own.includes(`Download = '${url}/drivers/1/files'`));
  assert.ok(named.includes("Download = 'http://platen.lan:8080/drivers/1/files'"));
  assert.doesNotMatch(odd, /Download = /);
  assert.ok(fixedText.includes("Download = 'https://platen.example/sub/drivers/1/files'"));
});

test("a script downloaded alone contains the SHA-256 of the driver's files as served", async (t) => {
  const { fetch, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const text = async (path: string) => (await fetch(path)).text();

  const install = await text(`/printers/${id}/scripts/install`);
  const files = await bytesOf(fetch("/drivers/1/files"));
  const repeated = await bytesOf(fetch("/drivers/1/files"));
  const others =
    (await text(`/printers/${id}/scripts/detect`)) + (await text(`/printers/${id}/scripts/uninstall`));

  const sha256 = createHash("sha256").update(files).digest("hex").toUpperCase();
  assert.ok(install.includes(`FilesSha256 = '${sha256}'`));
  assert.ok(files.equals(repeated));
  assert.doesNotMatch(others, /https?:\/\/127/);
});

test("the revision changes only with values that the scripts use", async (t) => {
  const { fetch, post, addPrinter } = await startApp(t);
  const id = await addPrinter();
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await (await fetch(`/printers/${id}/scripts/detect`)).text())?.[1];
  const fields = { name: "Office", address: "10.0.0.9", driver_id: "1" };

  const first = await revision();
  await post("/clients", { name: "A" });
  await post(`/printers/${id}`, { ...fields, client_id: "1" });
  const sameUses = await revision();
  await post(`/printers/${id}`, { ...fields, location: "Hall" });
  const other = await revision();
  await post("/drivers/1", { trust_publisher: "on" });
  const driver = await revision();

  assert.match(first ?? "", /^[0-9a-f]{12}$/);
  assert.equal(sameUses, first);
  assert.equal(new Set([first, other, driver]).size, 3);
});

test("a page opened at a loopback address warns that other machines cannot use it", async (t) => {
  const own = await startApp(t);
  const named = await startApp(t, { publicUrl: "https://platen.example" });

  const pages = await Promise.all(
    [own, named].map(async (service) => {
      const id = await service.addPrinter();
      return (await service.fetch(`/printers/${id}`)).text();
    }),
  );

  const notes = pages.map((page) => page.split("work only on the Platen server").length - 1);
  assert.deepEqual(notes, [1, 0]);
});
