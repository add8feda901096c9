/**
 * The first element that a selector finds.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [from]
 * @returns {T | null}
 */
export const $ = (selector, from = document) => from.querySelector(selector);

/** The path that Platen is served under, such as /platen: empty at the root of its host. */
export const base = $(".brand")?.getAttribute("href")?.replace(/\/$/, "") ?? "";

/**
 * A path of Platen's without the base path.
 * @param {string} pathname
 */
export const withoutBase = (pathname) =>
  pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;

/**
 * An element with attributes and what is in it.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/**
 * @typedef {object} Way what can be done next: a link, or a button
 * @property {string | Node} label
 * @property {string} [path]
 * @property {boolean} [isNewTab] whether the link opens beside the page
 * @property {() => void} [work]
 */

/**
 * Shows a message where a fragment's would stand, in place of the one that is there.
 * @param {string | Node} text
 * @param {"good" | "bad"} [tone]
 * @param {readonly Way[]} [ways]
 * @returns {HTMLElement | undefined} the message, which can take the focus
 */
export function notify(text, tone = "bad", ways = []) {
  const place = $("#message");
  if (!place) return undefined;
  const items = ways.map((way) => make("li", {}, wayOf(way)));
  const close = make("li", { "data-close": "" }, wayOf({ label: "Close", work: () => {} }));
  const box = make(
    "div",
    { class: `notice ${tone}`, role: tone === "bad" ? "alert" : "status", tabindex: "-1" },
    make("p", {}, text),
    make("ul", { class: "actions" }, ...items, close),
  );
  const hadFocus = place.contains(document.activeElement);
  place.className = "floating";
  place.replaceChildren(box);
  if (hadFocus) box.focus();
  return box;
}

/** @param {Way} way */
function wayOf({ label, path, isNewTab, work }) {
  if (path !== undefined)
    return make("a", { href: path, ...(isNewTab && { target: "_blank", rel: "noopener" }) }, label);
  const button = make("button", { type: "button", class: "link" }, label);
  if (work) button.addEventListener("click", work);
  return button;
}

/**
 * Says something to screen readers alone, where what is seen says it without words of its own.
 * @param {string} text
 */
export function announce(text) {
  let place = $("#announcements");
  if (!place) {
    place = make("div", { id: "announcements", class: "visually-hidden", role: "status" });
    document.body.append(place);
  }
  // The same words again are said again only where they are new.
  place.textContent = "";
  requestAnimationFrame(() => {
    if (place) place.textContent = text;
  });
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

/**
 * Brings to life what no fragment of htmx brought.
 * @param {HTMLElement} element
 */
export function bring(element) {
  htmx.process(element);
  element.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
}
