import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";

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

test("figures count requests, latencies, uploads, packages, encryptions and inspections, and show the last backup's age", async (t) => {
  let now = Date.UTC(2026, 10, 26, 12);
  const settings = { hasMetrics: true, workers: "own", clock: () => now } as const;
  const { fetch, post, addPrinter } = await startApp(t, settings);

  await addPrinter();
  await post("/backups", {});
  for (const path of ["/printers", "/printers/1/packages/mdm", "/nothing"]) await textOf(fetch(path));
  for (const method of ["PUT", "PATCH", "OPTIONS"]) await textOf(fetch("/printers", { method }));
  now += 3_600_000;
  const answer = await fetch("/metrics");
  const samples = samplesIn(await answer.text());

  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const expected = {
    'platen_requests_total{method="GET",route="/printers",status="200"}': 1,
    'platen_requests_total{method="GET",route="-",status="404"}': 1,
    'platen_requests_total{method="other",route="-",status="405"}': 3,
    'platen_request_seconds_count{method="GET",route="/printers"}': 1,
    'platen_request_seconds_bucket{method="GET",route="/printers",le="+Inf"}': 1,
    ...{ platen_uploads_total: 1, platen_packages_total: 1, platen_encryptions_total: 1 },
    ...{ platen_inspections_total: 1, platen_inspections_running: 0 },
    ...{ platen_backup_failed: 0, platen_last_backup_age_seconds: 3600 },
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(samples.get(name), value, name);
  const sizes = ["driver", "database", "disk_free"].map((what) => `platen_${what}_bytes`);
  for (const name of [...sizes, "process_resident_memory_bytes", "process_start_time_seconds"])
    assert.ok((samples.get(name) ?? 0) > 0, name);
});

test("figures exist only with METRICS=on, for viewers and for a token that reads nothing else", async (t) => {
  const { service, viewer, operator, addToken, bearer } = await startGuarded(t, { hasMetrics: true });
  const off = await startGuarded(t);
  await operator.post("/clients", { name: "Contoso" });
  const [read, client] = [await addToken("read"), await addToken("client:1")];
  const own = bearer(await addToken("metrics"));

  const askers = [service, viewer, bearer(read), bearer(client), own, off.viewer];
  const answers = await Promise.all(askers.map(({ fetch }) => fetch("/metrics")));

  assert.deepEqual(statusesOf(answers), [401, 200, 200, 403, 200, 404]);
  assert.equal((await own.fetch("/printers")).status, 403);
});
