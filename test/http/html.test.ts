import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hole, html } from "../../src/html/html.ts";

const rendered = (hole: Hole) => html`<p title="${hole}">${hole}</p>`.toString();

test("each special character of HTML is escaped, alone and anywhere in a text, and no other", () => {
  const plain = "Müller / Söhne: 10.0.0.9 `x` = y; {z} – 🖨 \u2028 \ud800";
  const escaped = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\0": "\ufffd" };

  assert.equal(rendered(plain), `<p title="${plain}">${plain}</p>`);
  for (const [character, safe] of Object.entries(escaped)) {
    for (const around of ["", "a", "é’“🖨", "&", "\0"]) {
      const safeAround = around.replaceAll("&", "&amp;").replaceAll("\0", "\ufffd");
      const text = `${safeAround}${safe}${safeAround}${safe}`;
      assert.equal(rendered(`${around}${character}${around}${character}`), `<p title="${text}">${text}</p>`);
    }
  }
});

test("empty values render as nothing, numbers as text, markup unescaped, and nested lists in order", () => {
  const bold = html`<b>${"a&b"}</b>`;
  const holes: Hole[] = [null, undefined, false, "", []];
  const nothing = holes.map((hole) => html`${hole}`.toString());

  assert.deepEqual(nothing, ["", "", "", "", ""]);
  assert.equal(html`${0} ${-1.5} ${Number.NaN}`.toString(), "0 -1.5 NaN");
  const nested = html`${[bold, [1, ["<", null, [bold]]], false]}.`;
  assert.equal(nested.toString(), "<b>a&amp;b</b>1&lt;<b>a&amp;b</b>.");
  assert.equal(html`no holes`.toString(), "no holes");
});
