import {
  type Driver,
  type DriverOrigin,
  type DriverSummary,
  driverOrigins,
} from "../../domain/drivers/driver.ts";
import { listedInfFrom, reportFrom } from "../../domain/drivers/report.ts";
import { digestIn, type Row } from "../database/rows.ts";
import { unpackText } from "../packed-text.ts";

/** A driver as its row and its report say it. */
export function driverOf(row: Row): Driver {
  return { ...summaryOf(row), report: reportFrom(unpackText(String(row.report))) };
}

function originIn({ origin }: Row): DriverOrigin {
  return driverOrigins.find((known) => known === origin) ?? "upload";
}

export function summaryOf(row: Row): DriverSummary {
  return {
    id: Number(row.id),
    origin: originIn(row),
    name: String(row.name),
    driver_desc: String(row.driver_desc),
    file_name: String(row.file_name),
    inf_path: String(row.inf_path),
    sha256: digestIn(row),
    size: Number(row.size),
    uploaded_at: Number(row.uploaded_at),
    updated_at: Number(row.updated_at),
    comment: String(row.comment),
    trust_publisher: row.trust_publisher === 1,
    model_chosen: row.model_chosen === 1,
    drop_unused: row.drop_unused === 1,
    listed: listedInfFrom(String(row.listed)),
  };
}
