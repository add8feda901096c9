import assert from "node:assert/strict";
import { before, describe, type TestContext, test } from "node:test";
import { without } from "../../support/drivers/foreign.ts";
import { diagnose, evaluate, problemLines } from "../../support/powershell/diagnosis.ts";
import { freePort, IppPrinter } from "../../support/powershell/ipp-printer.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { windowsOnNetwork } from "../../support/powershell/simulated-windows.ts";

interface Answer {
  readonly Url: string;
  readonly Problem: string;
  readonly Status: string;
  readonly Certificate: string;
  readonly Attributes: Record<string, string[]>;
}

const parts = ["findings", "network", "http", "ipp", "device-ipp"].map((part) => `diagnose/${part}`);
const requestedAttributes = [
  ...["document-format", "ipp-features", "ipp-versions"].map((name) => `${name}-supported`),
  ...["is-accepting-jobs", "make-and-model", "state", "state-reasons"].map((name) => `printer-${name}`),
];

/** A value as ipptool prints it. */
function asIpptool(name: string, value: string): string {
  if (name === "printer-state") return { "3": "idle", "4": "processing", "5": "stopped" }[value] ?? value;
  return name === "printer-is-accepting-jobs" ? value.toLowerCase() : value;
}

describe("diagnosis of a real printer by IPP", {
  skip: withoutPowerShell || without.ippPrinter,
}, () => {
  const windows = windowsOnNetwork();
  before(async () => {
    await windows.setMachine({ RealNetwork: true });
  });

  async function start(t: TestContext, ...options: string[]): Promise<IppPrinter> {
    const printer = await IppPrinter.start(options);
    t.after(() => printer.close());
    return printer;
  }
  const ask = (url: string, first = "") => {
    const command = "Get-IppAnswer -Url $Values -Addresses ([Net.IPAddress]'127.0.0.1') -Milliseconds 10000";
    return evaluate<Answer>(windows, parts, url, first === "" ? command : `. { ${first}; ${command} }`);
  };
  /** Diagnoses an IPP printer on this host. */
  const report = (port: number, fields: Record<string, string> = {}) => {
    const address = { protocol: "ipp", address: "127.0.0.1", port_number: String(port) };
    const driver = { origin: "ipp", driver_desc: "Microsoft IPP Class Driver" } as const;
    return diagnose(windows, deployable({ ...address, ...fields }, driver));
  };

  for (const [what, options] of [
    ["a plain one", []],
    [
      "one with a non-ASCII name and many formats",
      ["-M", "Müller", "-m", "Größe ½ „x“", "-2", "-f", "application/pdf,image/urf"],
    ],
  ] as const) {
    test(`${what}: each attribute has the values that ipptool reads, even if all are requested`, async (t) => {
      const printer = await start(t, ...options);
      const url = `http://127.0.0.1:${printer.port}/ipp/print`;

      const answer = await ask(url);
      const all = await ask(url, "$IppAttributes += 'all', 'media-col-database'");

      const theirs = printer.readAttributes();
      assert.deepEqual([answer.Problem, answer.Status], ["", "successful"]);
      assert.deepEqual(Object.keys(answer.Attributes).sort(), requestedAttributes);
      for (const name of requestedAttributes) {
        const values = answer.Attributes[name]?.map((value) => asIpptool(name, value));
        assert.deepEqual(values, theirs.get(name), name);
      }
      assert.deepEqual(all, answer, "nested collections change nothing");
    });
  }

  test("over TLS, an invalid certificate is a warning, and the state is still reported", async (t) => {
    const { port } = await start(t);

    const result = await report(port, { ipp_tls: "on" });

    const [warning = ""] = problemLines(result).filter((line) =>
      line.startsWith("warn tls: its certificate "),
    );
    assert.match(
      warning,
      /another name, .*nobody whom this machine trusts.*, is valid until 20\d\d-\d\d-\d\d: /,
    );
    assert.match(warning, /: Windows may refuse it$/);
    assert.match(result.lines.join("\n"), /^ok {3}ipp: .* says it is idle$/m);
  });

  test("the script reports model, state and what Windows needs, and for a wrong path the one that answers", async (t) => {
    const { port } = await start(t, "-M", "Papyrus", "-m", "100");

    const { lines } = await report(port);
    const wrong = await report(port, { ipp_path: "/ipp/port1" });

    const line = wrong.lines.find((each) => each.startsWith("bad  ipp: ")) ?? "";
    assert.ok(lines.includes("ok   ipp: Papyrus 100 says it is idle"), lines.join("\n"));
    assert.match(lines.join("\n"), /^ok {3}tcp: 127\.0\.0\.1 port \d+ answers in \d+ ms$/m);
    assert.match(
      lines.join("\n"),
      /^ok {3}driverless: IPP 1\.1 2\.0, ipp-everywhere, takes .*image\/pwg-raster/m,
    );
    assert.match(line, /client-error-not-found: the path is wrong; it answers at \/ipp\/print/);
  });

  test("a printer without a format that Windows produces is a warning", async (t) => {
    const { port } = await start(t, "-f", "image/jpeg");

    const problems = problemLines(await report(port)).join("\n");

    assert.match(problems, /^warn driverless: .* takes neither image\/pwg-raster nor application\/pdf/m);
  });

  test("a closed port is bad, and no IPP request is sent", async () => {
    const port = await freePort();

    const result = await report(port);

    const line = new RegExp(`^bad {2}tcp: 127\\.0\\.0\\.1 port ${port} refuses the connection`, "m");
    assert.match(problemLines(result).join("\n"), line);
    assert.doesNotMatch(result.lines.join("\n"), /^\w+ +(?:ipp|driverless|tls): /m);
  });
});
