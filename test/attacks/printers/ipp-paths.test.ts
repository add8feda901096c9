import assert from "node:assert/strict";
import { test } from "node:test";
import { ippUrlOf } from "../../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";

function urlWith(ipp_path: string): string {
  return ippUrlOf(parsePrinter({ name: "Office", protocol: "ipp", address: "10.0.0.9", ipp_path }));
}

test("a path that URL parsers change, or that names another host, is refused", () => {
  const paths = [
    ...["/..", "/.", "/../x", "/ipp/./print", "/ipp/../print", "/%2e%2e/x", "/.%2E/x", "/ipp/%2E"],
    ...["/%", "/%2", "/%zz", "/a%", "/%u0041"],
    ...["/%00", "/a%0d%0aHost:x", "/%1f", "/%7F"],
    ...["//evil/x", "/a//b", "http://evil/ipp/print", "/http://evil/"],
    ...["/a\\..\\b", "/a?b", "/a#b", "/a b", "/’", '/"', "/`n", "/ä", "/\u2028a", "/\ud800"],
  ];

  for (const path of paths) {
    assert.throws(() => urlWith(path), /is not a valid IPP path/, JSON.stringify(path));
  }
});

test("an accepted path is in the URL as typed, and URL parsers leave it unchanged", () => {
  const paths = [
    ...["/ipp/print", "/ipp/port1", "/", "/printers/B%C3%BCro", "/a:b@c;d=1,e"],
    ...["/..a", "/a..", "/...", "/.well-known", "/$(calc)&('x')", "/%2Fipp", `/${"a".repeat(254)}`],
  ];

  for (const path of paths) {
    const url = urlWith(path);
    assert.equal(url, `http://10.0.0.9:631${path}`);
    assert.equal(new URL(url).pathname, path);
    assert.equal(new URL(url).href, url);
  }
});
