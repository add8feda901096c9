import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readDatabase } from "./support/database.ts";
import { startGuarded } from "./support/guarded.ts";

test("how often links were ended is forgotten of records that cannot come back, and of no other", async (t) => {
  const { service, operator } = await startGuarded(t);
  for (const name of ["One", "Two", "Three"]) await operator.addPrinter({ name });
  await operator.post("/clients", { name: "Contoso" });
  const numbers = () =>
    readDatabase(join(service.dataDir, "platen.sqlite"), (db) =>
      (db.exec("SELECT kind, id, generation FROM link_generations ORDER BY kind, id")[0]?.values ?? []).map(
        (row) => row.join(" "),
      ),
    );
  const end = (path: string) => operator.post(`/${path}/links/end`, {});

  for (const path of ["printers/1", "printers/2", "printers/2", "clients/1"]) await end(path);
  await operator.post("/printers/1/delete", {});
  await end("printers/3");
  const kept = await numbers();
  await operator.post("/deletions/1/delete", {});
  await end("printers/3");
  const forgotten = await numbers();

  assert.deepEqual(kept, ["client 1 1", "printer 1 1", "printer 2 2", "printer 3 1"]);
  assert.deepEqual(forgotten, ["client 1 1", "printer 2 2", "printer 3 2"]);
});
