/**
 * The first element that a selector finds.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [from]
 * @returns {T | null}
 */
export const $ = (selector, from = document) => from.querySelector(selector);

/**
 * Shows a message where a fragment's would stand; screen readers read it out.
 * @param {string} text
 * @param {"good" | "bad"} [tone]
 */
export function notify(text, tone = "bad") {
  const place = $("#message");
  if (!place) return;
  const box = document.createElement("div");
  box.className = `notice ${tone}`;
  box.setAttribute("role", tone === "bad" ? "alert" : "status");
  box.textContent = text;
  place.className = "floating";
  place.replaceChildren(box);
}

/** @type {WeakMap<Element, Set<unknown>>} */
const prepared = new WeakMap();

/**
 * Works once on each element that a selector finds, the root among them.
 * @template {Element} T
 * @param {Element} root
 * @param {string} selector
 * @param {(element: T) => void} work
 */
export function each(root, selector, work) {
  /** @type {T[]} */
  const found = Array.from(root.querySelectorAll(selector));
  if (root.matches(selector)) found.push(/** @type {T} */ (root));
  for (const element of found) {
    const done = prepared.get(element) ?? new Set();
    if (done.has(work)) continue;
    prepared.set(element, done.add(work));
    work(element);
  }
}
