const key = "guide";

/**
 * Shows the guide of the tool that was opened last on its card, where it is seen without opening anything.
 * @param {HTMLDetailsElement} guide
 */
export function rememberGuide(guide) {
  const tool = guide.dataset.guide ?? "";
  if (lastTool() === tool) guide.closest(".card > .more")?.before(guide);
  guide.addEventListener("toggle", () => {
    if (guide.open) remember(tool);
  });
}

// Browsers that refuse cookies throw.

function lastTool() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} tool */
function remember(tool) {
  try {
    localStorage.setItem(key, tool);
  } catch {}
}
