import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import initSqlJs, { type Database as SqlJsDatabase } from "sql.js";
import wasm from "sql.js/dist/sql-wasm.wasm";
import { migrations } from "../../src/store/database/migrations.ts";

/** Changes a database file directly, without checking foreign keys. */
export async function editDatabase(path: string, edit: (db: SqlJsDatabase) => void): Promise<void> {
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new sql.Database(existsSync(path) ? readFileSync(path) : undefined);
  edit(db);
  writeFileSync(path, db.export());
  db.close();
}

/** Reads a database file without changing it. */
export async function readDatabase<T>(path: string, read: (db: SqlJsDatabase) => T): Promise<T> {
  const sql = await initSqlJs({ wasmBinary: wasm.buffer as ArrayBuffer });
  const db = new sql.Database(readFileSync(path));
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** A printer's settings as Platen wrote them with the first schema, with every field set. */
export const oldSettings =
  '{"driver_desc":"Papyrus 100 PCL6","address":"10.0.0.9","port_name":"IP_10.0.0.9","protocol":"lpr","port_number":9100,"lpr_queue":"lp","snmp":true,"snmp_community":"site","snmp_index":2,"location":"Hall","comment":"By the door","set_default":true,"shared":true,"share_name":"OFFICE","duplex":"long_edge","color":"mono","collate":"on","paper_size":"A4","keep_driver":true,"replaces":["Old","Older"]}';

/** A driver's report as Platen wrote it with the first schema. */
export const oldReport =
  '{"fileCount":4,"totalBytes":430,"infs":[{"path":"papyrus.inf","class":"Printer","isPrinter":true,"driverModel":"v3","provider":"Papyrus","driverVer":{"date":"06/21/2025","version":"1.2.3.4"},"signed":true,"catalogFiles":["papyrus.cat"],"architectures":["amd64"],"notShipped":[],"descriptions":["Papyrus 100 PCL6"],"modelLines":1,"manufacturers":["Papyrus"],"copyInf":[],"missing":[],"unused":{"count":1,"bytes":1,"paths":["readme.txt"]}}],"printerInf":"papyrus.inf","warnings":[]}';

export const oldDigest = "90dd6ddaec54db5e9d854760e4012a2e637d56ca31e7721d02023ac52068687a";
const oldTime = 1795268288145;

interface OldRecords {
  /** JSON texts, one for each driver; the first driver has `oldDigest`. */
  readonly reports?: readonly string[];
  /** JSON texts, one for each printer; all printers are called Office and have the first driver. */
  readonly settings?: readonly string[];
}

/** Writes a database with the first schema into a data folder. @returns its path */
export async function makeOldDatabase(dataDir: string, records: OldRecords): Promise<string> {
  const { reports = [oldReport], settings = [oldSettings] } = records;
  const path = join(dataDir, "platen.sqlite");
  mkdirSync(dirname(path), { recursive: true });
  await editDatabase(path, (db) => {
    db.exec(String(migrations[0]));
    db.exec(`INSERT INTO clients VALUES (1, 'Contoso', 'contoso', '', ${oldTime})`);
    reports.forEach((report, i) => {
      const sha256 = i === 0 ? oldDigest : i.toString(16).padStart(64, "0");
      const row = [i + 1, sha256, "drv.zip", 726, oldTime, oldTime, "", "", "papyrus.inf"];
      db.run("INSERT INTO drivers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [
        ...row,
        "Papyrus 100 PCL6",
        0,
        report,
      ]);
    });
    settings.forEach((text, i) => {
      const row = [i + 1, oldTime, oldTime, 1, 1, "Office", text];
      db.run("INSERT INTO printers VALUES (?, ?, ?, ?, ?, ?, ?)", row);
    });
    db.exec("PRAGMA user_version = 1");
  });
  return path;
}
