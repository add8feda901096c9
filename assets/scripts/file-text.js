import { $, announce, notify } from "./dom.js";

/** No text that is taken has so many bytes, in whatever encoding. */
const mostBytes = 1024 * 1024;

/**
 * The text of a chosen file is put where it can be seen, and is sent with the form as if it were pasted.
 * @param {HTMLElement} field which works with scripts alone
 */
export function fillFromFile(field) {
  const target = document.getElementById(field.dataset.fileText ?? "");
  /** @type {HTMLInputElement | null} */
  const input = $("input[type=file]", field);
  if (!(target instanceof HTMLTextAreaElement) || !input) return;
  field.hidden = false;
  input.addEventListener("change", async () => {
    const [file] = input.files ?? [];
    if (!file) return;
    // It is no field of the form's, and can be chosen again when it has changed.
    input.value = "";
    if (file.size > mostBytes) {
      notify(`${file.name} is too large for this field.`);
      return;
    }
    target.value = decoded(await file.arrayBuffer());
    target.dispatchEvent(new Event("input", { bubbles: true }));
    announce(`${file.name} loaded.`);
  });
}

/**
 * UTF-16 where its mark says so, as Windows PowerShell writes it, else UTF-8.
 * @param {ArrayBuffer} bytes
 */
function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
