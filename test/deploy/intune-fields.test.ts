import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";

/** The fields of a group on a page for Intune: label and text, with the hint. */
async function fieldsIn({ fetch }: TestApp, path: string, group: string): Promise<string[]> {
  const page = await (await fetch(path)).text();
  const [, rows = ""] = new RegExp(`<h4>${group}</h4><dl class="values">(.*?)</dl>`, "s").exec(page) ?? [];
  return [...rows.matchAll(/<dt[^>]*>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
    ([, label, value = ""]) => `${label}: ${value.replaceAll(/<[^>]*>/g, "").trim()}`,
  );
}

test("the fields for Intune name supersedence, assignments, and what removal does about open jobs", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();

  const supersedence = await fieldsIn(app, "/printers/1", "Supersedence");
  const assignments = await fieldsIn(app, "/printers/1", "Assignments");

  assert.deepEqual(supersedence, ["Add: none: updated in place"]);
  assert.deepEqual(assignments, [
    "Required: a device group: installs automatically",
    "Available for enrolled devices: a user group: users install it in Company Portal",
    "Uninstall: waits one minute for open print jobs; if any remain, Intune tries again (1618)",
    "End user notifications: Show toast notifications for computer restarts",
    "Delivery optimization priority: Content download in background",
  ]);
});

test("the description says “Printer” once, also for a printer whose name begins with it", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.addPrinter({ name: "Printer 016", client_id: "1" });
  await app.addPrinter({ name: "Printers' den", client_id: "1", driver_id: "1" });

  const descriptions = [];
  for (const id of [1, 2]) descriptions.push((await fieldsIn(app, `/printers/${id}`, "App information"))[1]);

  assert.deepEqual(descriptions, [
    "Description: Printer 016 of Alpha",
    "Description: Printer Printers&#39; den of Alpha",
  ]);
});
