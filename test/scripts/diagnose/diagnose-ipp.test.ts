import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { without } from "../../support/drivers/foreign.ts";
import { diagnose, evaluate, problemLines } from "../../support/powershell/diagnosis.ts";
import { freePort, IppPrinter } from "../../support/powershell/ipp-printer.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows } from "../../support/powershell/simulated-windows.ts";

interface Answer {
  readonly Problem: string;
  readonly Status: string;
  readonly Certificate: string;
  readonly Attributes: Record<string, string[]>;
}

const parts = ["diagnose/findings", "diagnose/network", "diagnose/http", "diagnose/ipp"];
const ask = "Get-IppAnswer -Url $Values -Addresses ([Net.IPAddress]'127.0.0.1') -Milliseconds 10000";
const requestedAttributes = [
  "printer-make-and-model",
  "printer-state",
  "printer-state-reasons",
  "printer-is-accepting-jobs",
  "document-format-supported",
  "ipp-versions-supported",
  "ipp-features-supported",
];

/** A value as ipptool prints it. */
function asIpptool(name: string, value: string): string {
  if (name === "printer-state") return { "3": "idle", "4": "processing", "5": "stopped" }[value] ?? value;
  return name === "printer-is-accepting-jobs" ? value.toLowerCase() : value;
}

describe("diagnosis of a real printer by IPP", {
  skip: withoutPowerShell || without.ippPrinter,
}, () => {
  const windows = ownWindows();
  before(async () => {
    await windows.setMachine({ RealNetwork: true });
  });

  const printers: [string, string[]][] = [
    ["a plain one", []],
    [
      "one with a non-ASCII name and many formats",
      ["-M", "Müller", "-m", "Größe ½ „x“", "-2", "-f", "application/pdf,image/urf"],
    ],
    ["one without a format that Windows produces", ["-f", "image/jpeg"]],
  ];
  for (const [what, options] of printers) {
    test(`${what}: each attribute has the values that ipptool reads`, async (t) => {
      const printer = await IppPrinter.start(options);
      t.after(() => printer.close());

      const answer = await evaluate<Answer>(
        windows,
        parts,
        `http://127.0.0.1:${printer.port}/ipp/print`,
        ask,
      );

      const theirs = printer.readAttributes();
      assert.deepEqual([answer.Problem, answer.Status], ["", "successful"]);
      assert.deepEqual(Object.keys(answer.Attributes).sort(), [...requestedAttributes].sort());
      for (const name of requestedAttributes)
        assert.deepEqual(
          answer.Attributes[name]?.map((value) => asIpptool(name, value)),
          theirs.get(name),
          name,
        );
    });
  }

  test("an answer with all attributes and nested collections gives the same values", async (t) => {
    const printer = await IppPrinter.start();
    t.after(() => printer.close());
    const url = `http://127.0.0.1:${printer.port}/ipp/print`;

    const few = await evaluate<Answer>(windows, parts, url, ask);
    const all = await evaluate<Answer>(
      windows,
      parts,
      url,
      `. { $IppAttributes += 'all', 'media-col-database'; ${ask} }`,
    );

    assert.deepEqual(all, few);
  });

  test("over TLS, certificate problems are reported and the attributes are still read", async (t) => {
    const printer = await IppPrinter.start();
    t.after(() => printer.close());

    const answer = await evaluate<Answer>(windows, parts, `https://127.0.0.1:${printer.port}/ipp/print`, ask);

    assert.equal(answer.Problem, "");
    assert.deepEqual(
      answer.Attributes["printer-make-and-model"],
      printer.readAttributes().get("printer-make-and-model"),
    );
    assert.match(
      answer.Certificate,
      /another name, .*nobody whom this machine trusts.*, is valid until 20\d\d-\d\d-\d\d$/,
    );
  });

  /** An IPP printer on this host. */
  const office = (port: number, fields: Record<string, string> = {}) =>
    deployable(
      { protocol: "ipp", address: "127.0.0.1", port_number: String(port), ...fields },
      { origin: "ipp", driver_desc: "Microsoft IPP Class Driver" },
    );

  test("the script reports model, state and what Windows needs", async (t) => {
    const printer = await IppPrinter.start(["-M", "Papyrus", "-m", "100"]);
    t.after(() => printer.close());

    const { lines } = await diagnose(windows, office(printer.port));

    assert.ok(lines.includes("ok   ipp: Papyrus 100 says it is idle"), lines.join("\n"));
    assert.match(lines.join("\n"), /^ok {3}tcp: 127\.0\.0\.1 port \d+ answers in \d+ ms$/m);
    assert.match(
      lines.join("\n"),
      /^ok {3}driverless: IPP 1\.1 2\.0, ipp-everywhere, takes .*image\/pwg-raster/m,
    );
  });

  test("for a wrong path the script reports the path that answers", async (t) => {
    const printer = await IppPrinter.start();
    t.after(() => printer.close());

    const result = await diagnose(windows, office(printer.port, { ipp_path: "/ipp/port1" }));

    const line = result.lines.find((each) => each.startsWith("bad  ipp: ")) ?? "";
    assert.match(line, /client-error-not-found: the path is wrong; it answers at \/ipp\/print/);
  });

  test("TLS with an invalid certificate is a warning, and the state is still reported", async (t) => {
    const printer = await IppPrinter.start();
    t.after(() => printer.close());

    const result = await diagnose(windows, office(printer.port, { ipp_tls: "on" }));

    assert.match(problemLines(result).join("\n"), /^warn tls: its certificate .*: Windows may refuse it$/m);
    assert.match(result.lines.join("\n"), /^ok {3}ipp: .* says it is idle$/m);
  });

  test("a printer without a format that Windows produces is a warning", async (t) => {
    const printer = await IppPrinter.start(["-f", "image/jpeg"]);
    t.after(() => printer.close());

    const result = await diagnose(windows, office(printer.port));

    assert.match(
      problemLines(result).join("\n"),
      /^warn driverless: .* takes neither image\/pwg-raster nor application\/pdf/m,
    );
  });

  test("a closed port is bad, and no IPP request is sent", async () => {
    const port = await freePort();

    const result = await diagnose(windows, office(port));

    assert.match(
      problemLines(result).join("\n"),
      new RegExp(`^bad {2}tcp: 127\\.0\\.0\\.1 port ${port} refuses the connection`, "m"),
    );
    assert.doesNotMatch(result.lines.join("\n"), /^\w+ +(?:ipp|driverless|tls): /m);
  });
});
