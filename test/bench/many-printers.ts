import { client, navigation } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

// The records for measuring lists: 1,000 printers with ordinary settings.

export const clientCount = 40;
const driverCount = 12;
export const printerCount = 1000;
const batchSize = 50;

/** Creates clients, drivers and printers in an empty service. */
export async function fill(url: string): Promise<void> {
  const { addDriver, post } = client(url);
  for (let i = 1; i <= driverCount; i++)
    await addDriver(driverZip({ models: [`Papyrus ${i}00 PCL6`, `Papyrus ${i}00 PS`] }));
  for (let i = 1; i <= clientCount; i++) await post("/clients", { name: `Client & Sons ${i}` });
  for (let first = 0; first < printerCount; first += batchSize) {
    // As a browser without scripts does: the response is a redirect instead of the list.
    const made = Array.from({ length: batchSize }, (_, i) =>
      post("/printers", printerFields(first + i), navigation),
    );
    for (const { status } of await Promise.all(made)) if (status !== 303) throw new Error(`${status}`);
  }
}

export function printerFields(i: number): Record<string, string> {
  return {
    name: `Office “${i}” floor ${i % 7}`,
    client_id: String((i % clientCount) + 1),
    driver_id: String((i % driverCount) + 1),
    driver_desc: i % 3 === 0 ? `Papyrus ${(i % driverCount) + 1}00 PS` : "",
    address: `10.0.${i >> 8}.${i & 255}`,
    location: `Building ${i % 5}, floor ${i % 7}`,
    duplex: "long_edge",
    replaces: `Old ${i}\nOlder ${i}`,
  };
}
