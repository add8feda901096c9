import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import {
  htmxHeaders,
  overlappingInfs,
  saveDriverForm,
  severalModels,
} from "../support/drivers/driver-form.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

function confirmedIn(page: string): string {
  return /name="confirmed" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
}

test("a save that affects printers shows its effects first and happens after the confirmation", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(overlappingInfs());
  await saveDriverForm(service, id, { driver_desc: "Papyrus B" });
  await service.post("/clients", { name: "Alpha" });
  const own = await service.addPrinter({ driver_id: String(id), name: "Own <1>", client_id: "1" });
  await service.addPrinter({ driver_id: String(id), name: "Chosen", driver_desc: "Papyrus A" });
  const change = { inf_path: "sub/second.inf", driver_desc: "Papyrus B", comment: "kept & sent again" };

  const unconfirmed = await saveDriverForm(service, id, change);
  const page = await unconfirmed.text();
  const before = service.app.store.drivers.get(id).inf_path;
  const done = await saveDriverForm(service, id, { ...change, confirmed: confirmedIn(page) });
  const message = await (await service.fetch(done.headers.get("location") ?? "")).text();
  const twice = await saveDriverForm(service, id, { ...change, confirmed: confirmedIn(page) });

  assert.equal(unconfirmed.status, 200);
  assert.match(
    page,
    /1 printer must be deployed again: <a[^>]*><bdi>Own &lt;1&gt;<\/bdi><\/a> \(<bdi>Alpha<\/bdi>\)\./,
  );
  assert.match(
    page,
    /1 printer will be blocked\. The INF does not contain the model “<bdi>Papyrus A<\/bdi>”: <a[^>]*><bdi>Chosen/,
  );
  assert.match(page, /name="comment" value="kept &amp; sent again"/);
  assert.equal(before, "papyrus.inf");
  assert.equal(done.status, 303);
  assert.match(done.headers.get("location") ?? "", /^\/drivers\/1\?done=redeploy&change=[\w-]{12}$/);
  assert.deepEqual([twice.status, twice.headers.get("location")], [303, `/drivers/${id}?done=saved`]);
  const printers = await service.app.overview.findMany([own, 2]);
  assert.deepEqual([printers.get(own)?.state, printers.get(2)?.state], ["ready", "blocked"]);
  assert.match(
    message,
    /class="notice warn"[^>]*>\s*<p>Saved: [\s\S]*1 printer cannot be deployed with this driver/,
  );
});

test("a confirmation of outdated effects is requested again", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(severalModels);
  await service.addPrinter({ driver_id: String(id), name: "One" });
  const change = { driver_desc: "Papyrus C" };

  const first = await (await saveDriverForm(service, id, change)).text();
  await service.addPrinter({ driver_id: String(id), name: "Two" });
  const second = await (
    await saveDriverForm(service, id, { ...change, confirmed: confirmedIn(first) }, htmxHeaders)
  ).text();
  const after = service.app.store.drivers.get(id).driver_desc;
  const back = await (
    await saveDriverForm(service, id, { ...change, show: "form", name: "Typed" }, htmxHeaders)
  ).text();

  assert.match(first, /1 printer must be deployed again/);
  assert.match(
    first,
    /1 printer will have the model “<bdi>Papyrus C<\/bdi>” instead of “<bdi>Papyrus A<\/bdi>”: <a[^>]*><bdi>One</,
  );
  assert.match(second, /The data changed meanwhile/);
  assert.match(second, /2 printers must be deployed again/);
  assert.equal(after, "Papyrus A");
  assert.match(back, /value="Papyrus C"\s+checked/);
  assert.match(back, /value="Typed"/);
});

test("names, comments and plain requests need no confirmation", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(severalModels);
  await service.addPrinter({ driver_id: String(id) });

  const named = await saveDriverForm(service, id, { name: "Ground floor", comment: "c" });
  const plain = await service.post(`/drivers/${id}`, { driver_desc: "Papyrus C" });
  const saved = await saveDriverForm(service, id, { comment: "d" }, htmxHeaders);

  assert.deepEqual([named.status, plain.status], [303, 200]);
  assert.equal(service.app.store.drivers.get(id).driver_desc, "Papyrus C");
  assert.match(saved.headers.get("hx-redirect") ?? "", /^\/drivers\/1\?done=saved&change=[\w-]{12}$/);
});

test("a typed model that the INF lacks is saved only after a confirmation that Windows will refuse it", async (t) => {
  const service = await startApp(t);
  const id = await service.addDriver(severalModels);
  const nameless = await service.addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  const typed = { driver_desc_typed: "Papyrus Z" };

  const unconfirmed = await (await saveDriverForm(service, id, typed)).text();
  const before = service.app.store.drivers.get(id).driver_desc;
  await saveDriverForm(service, id, { ...typed, confirmed: confirmedIn(unconfirmed) });
  const free = await saveDriverForm(service, nameless, typed);

  assert.match(
    unconfirmed,
    /The INF does not contain the model “<bdi>Papyrus Z<\/bdi>”\. Windows will refuse it/,
  );
  assert.deepEqual([before, service.app.store.drivers.get(id).driver_desc], ["Papyrus A", "Papyrus Z"]);
  assert.equal((await service.app.overview.driver(id)).driver.state, "blocked");
  assert.equal(free.status, 303);
  assert.equal(service.app.store.drivers.get(nameless).driver_desc, "Papyrus Z");
});
