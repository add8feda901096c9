import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";

/** The samples of Prometheus' text format (0.0.4), by name and labels. @throws AssertionError for another format */
function samplesIn(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Set<string>();
  for (const line of text.trimEnd().split("\n")) {
    const [, type] = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (type !== undefined) types.add(type);
    if (line.startsWith("#")) continue;
    const [, name = "", labels = "", value] =
      /^([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)+\})? (\d+(?:\.\d+)?(?:e-?\d+)?)$/.exec(line) ?? [];
    assert.ok(types.has(name.replace(/_(?:bucket|sum|count)$/, "")) || types.has(name), line);
    samples.set(name + labels, Number(value));
  }
  return samples;
}

test("figures count requests, latencies, uploads, packages, encryptions and inspections", async (t) => {
  const { fetch, addPrinter } = await startApp(t, { hasMetrics: true, workers: "own" });

  await addPrinter();
  await (await fetch("/printers")).text();
  await (await fetch("/printers/1/packages/mdm")).arrayBuffer();
  await (await fetch("/nothing")).text();
  const answer = await fetch("/metrics");
  const samples = samplesIn(await answer.text());

  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const expected = {
    'platen_requests_total{method="GET",route="/printers",status="200"}': 1,
    'platen_requests_total{method="GET",route="-",status="404"}': 1,
    'platen_request_seconds_count{method="GET",route="/printers"}': 1,
    'platen_request_seconds_bucket{method="GET",route="/printers",le="+Inf"}': 1,
    platen_uploads_total: 1,
    platen_packages_total: 1,
    platen_encryptions_total: 1,
    platen_inspections_total: 1,
    platen_inspections_running: 0,
    platen_backup_failed: 0,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(samples.get(name), value, name);
  for (const name of [
    "platen_driver_bytes",
    "platen_database_bytes",
    "platen_disk_free_bytes",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
  ])
    assert.ok((samples.get(name) ?? 0) > 0, name);
});

test("an unknown method does not add a series", async (t) => {
  const { fetch } = await startApp(t, { hasMetrics: true });

  for (const method of ["PUT", "PATCH", "OPTIONS"]) await (await fetch("/printers", { method })).text();
  const samples = samplesIn(await (await fetch("/metrics")).text());

  assert.equal(samples.get('platen_requests_total{method="other",route="-",status="405"}'), 3);
});

test("the age of the last backup is shown", async (t) => {
  let now = Date.UTC(2026, 10, 26, 12);
  const service = await startApp(t, { hasMetrics: true, clock: () => now });
  await service.post("/clients", { name: "Contoso" });
  await service.post("/backups", {});

  now += 3_600_000;
  const samples = samplesIn(await (await service.fetch("/metrics")).text());

  assert.equal(samples.get("platen_last_backup_age_seconds"), 3600);
});

test("figures exist only with METRICS=on, and are guarded as reading is", async (t) => {
  const { service, viewer, operator, addToken, bearer } = await startGuarded(t, { hasMetrics: true });
  const off = await startGuarded(t);
  await operator.post("/clients", { name: "Contoso" });
  const [read, client] = [await addToken("read"), await addToken("client:1")];

  const statuses = await Promise.all([
    service.fetch("/metrics"),
    viewer.fetch("/metrics"),
    bearer(read).fetch("/metrics"),
    bearer(client).fetch("/metrics"),
    off.viewer.fetch("/metrics"),
  ]);

  assert.deepEqual(
    statuses.map(({ status }) => status),
    [401, 200, 200, 403, 404],
  );
});
