import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp, temporaryFolder } from "./support/app.ts";
import { adminPassword, startClosed } from "./support/people.ts";
import { serve } from "./support/service.ts";
import { until } from "./support/until.ts";

const line = /Sign-in is off: whoever reaches this address can change what runs as SYSTEM on every PC/;

test("every page says who may change what runs on every PC, where other machines may ask and nobody signs in", async (t) => {
  const open = await startApp(t, { host: undefined });
  const own = await startApp(t, { host: "127.0.0.1" });
  const closed = await startClosed(t, { host: undefined });
  const pages = ["/", "/printers", "/clients", "/drivers", "/packages", "/import", "/search?q=a", "/nothing"];
  const textOf = async ({ fetch }: typeof open, path: string) =>
    (await fetch(path, { headers: { accept: "text/html" } })).text();

  for (const path of pages) {
    assert.match(await textOf(open, path), line, path);
    assert.doesNotMatch(await textOf(own, path), line, path);
  }
  assert.doesNotMatch(await textOf(closed, "/sign-in"), line);
});

test("the log says it once at the start, and how to close it", async (t) => {
  const start = async (environment: Record<string, string>) => {
    const service = await serve(t, await temporaryFolder(t), environment);
    await fetch(`${service.url}/health`);
    service.process.kill("SIGTERM");
    // Written after the warning, to the same stream.
    await until(() => service.output().includes("SIGTERM: finishing"));
    await service.exited;
    return service.output();
  };

  const [open, own, closed] = [
    await start({ HOST: "0.0.0.0" }),
    await start({ HOST: "localhost" }),
    await start({ HOST: "0.0.0.0", ADMIN_PASSWORD: adminPassword }),
  ];

  assert.match(open, /warning: sign-in is off: .*Set ADMIN_PASSWORD/);
  assert.doesNotMatch(own + closed, /sign-in is off/);
});
