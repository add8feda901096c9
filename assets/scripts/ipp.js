import { $ } from "./dom.js";

/** @typedef {HTMLSelectElement | HTMLInputElement} Control */

/** What IPP decides by itself, each driver before its model. */
const decided = ["driver_id", "driver_desc", "arm64_driver_id", "arm64_driver_desc"];

/**
 * IPP and its driver are chosen together, and each protocol has its own usual port. What stood in their places before comes
 * back with another choice.
 * @param {HTMLFormElement} form
 */
export function pairIpp(form) {
  /** @type {HTMLSelectElement | null} */
  const protocol = $("[name=protocol]", form);
  /** @type {HTMLSelectElement | null} */
  const driver = $("select[data-ipp]", form);
  /** @type {HTMLInputElement | null} */
  const number = $("[name=port_number]", form);
  if (!protocol || !driver || !number) return;
  const ippDriver = driver.dataset.ipp ?? "";
  const usual = { raw: number.dataset.default ?? "", ipp: number.dataset.ipp ?? "" };
  let otherProtocol = protocol.value === "ipp" ? "raw" : protocol.value;
  /** @type {(readonly [Control, string])[]} */
  let before = [[driver, ""]];

  const takePlaces = () => {
    const controls = decided.flatMap(
      (name) => /** @type {Control | null} */ ($(`[name=${name}]`, form)) ?? [],
    );
    before = controls.map((control) => [control, control.value === ippDriver ? "" : control.value]);
    for (const control of controls) give(control, control === driver ? ippDriver : "");
    // Path and TLS stand there.
    const fold = protocol.closest("details");
    if (fold) fold.open = true;
  };
  const leavePlaces = () => {
    const isOther = driver.value !== ippDriver;
    for (const [control, value] of before) {
      if (isOther && !control.name.startsWith("arm64_")) continue;
      give(control, value);
    }
  };
  driver.addEventListener("change", () => {
    if (driver.value === ippDriver) give(protocol, "ipp");
    else if (protocol.value === "ipp") give(protocol, otherProtocol);
  });
  protocol.addEventListener("change", () => {
    const isIpp = protocol.value === "ipp";
    const [from, to] = isIpp ? [usual.raw, usual.ipp] : [usual.ipp, usual.raw];
    if (number.value.trim() === from) give(number, to);
    if (!isIpp) otherProtocol = protocol.value;
    if (isIpp) takePlaces();
    else leavePlaces();
  });
}

/**
 * Puts a value where a person would, so that all that follows it does.
 * @param {Control} control
 * @param {string} value
 */
function give(control, value) {
  if (control.value === value) return;
  control.value = value;
  for (const event of ["change", "input"]) control.dispatchEvent(new Event(event, { bubbles: true }));
}
