import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { marked, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, sourceOf } from "../support/drivers/zip.ts";

const inf = printerInf({ catalog: null, files: [] });
const folders = (count: number) => "f/".repeat(count);

const cases: readonly [what: string, files: Readonly<Record<string, string>>, warnings: readonly string[]][] =
  [
    [
      "Windows in other languages has other names for models",
      {
        "a.inf": inf
          .replaceAll('"Papyrus 100 PCL6"', "%A%=I\r\n%B% 200")
          .concat("[Strings]\nA=Papyrus 100\nB=Papyrus\nC=en\n[Strings.0411]\nB=Papyrus\n")
          .concat("[Strings.0407]\nA=Papyrus 100 DE\nB=Papier\n")
          .concat("[Strings.040C]\nA=Papyrus 100 FR\n[Strings.0425]\nC=ee\n[Strings.0416]\nA=Papiro\n"),
      },
      [
        "On Windows in German, “a.inf” calls the model “Papyrus 100 DE”, not “Papyrus 100”. The INF also has names for other languages: French, the language 0416. Packages use “Papyrus 100”, and installation may fail there: try it on one of those PCs first.",
      ],
    ],
    [
      "names of models and files are UTF-8 without a byte order mark",
      {
        "a.inf": printerInf({ catalog: null, models: ["Papyrus ä"], files: ["ö.dll"] }).slice(1),
        "ö.dll": "",
      },
      [
        "“a.inf” is UTF-8 without a byte order mark. Windows reads “Papyrus ä” as “Papyrus Ã¤” (and 1 more name). Packages use the name that Windows reads.",
      ],
    ],
    [
      "an INF with a byte order mark has one reading",
      { "a.inf": marked(inf.replaceAll("Papyrus 100", "Papyrus Ã¤")) },
      [],
    ],
    [
      "paths are too long for Windows in a package",
      {
        "a.inf": inf,
        [`${folders(93)}6.char`]: "",
        [`${folders(94)}5.cha`]: "",
        [`${folders(95)}a.dll`]: "",
      },
      [
        `The path of “…${`${folders(95)}a.dll`.slice(-119)}” in this ZIP has 195 characters, and 1 more path is too long. Windows unpacks packages below a folder of about 60 characters and cannot open paths of more than 259 there. If the INF is in a folder of this ZIP, zip only that folder, and upload that ZIP.`,
      ],
    ],
  ];

for (const [what, files, expected] of cases) {
  test(`warnings: ${what}`, async () => {
    const zip = makeZip(Object.entries(files).map(([name, bytes]) => ({ name, bytes })));

    const { warnings } = reportOf(await inspectArchive(sourceOf(zip)));

    assert.deepEqual(warnings, expected);
  });
}
