import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { bundle, temporaryFolder } from "./support/app.ts";
import { makeSharedZip, withoutShared } from "./support/shared.ts";

test("inspect reads a real package at full size", { skip: withoutShared }, async (t) => {
  const folder = await temporaryFolder(t);
  await makeSharedZip("hp-upd-pcl6-701", join(folder, "hp.zip"));

  const { stdout, status } = spawnSync(process.execPath, [bundle, "inspect", "hp.zip"], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  });

  const found = JSON.parse(stdout);
  assert.equal(status, 0);
  assert.equal(found.printerInf, "hpcu255u.inf");
  assert.equal(found.infs["hpcu255u.inf"].modelLines, 2554);
});
