import { $ } from "./dom.js";

const side = 256;
/** What the service takes, in bytes. */
const mostBytes = 750 * 1024;
/** A picture of more bytes than this is no picture of a printer. */
const mostFileBytes = 50 * 1024 * 1024;

/**
 * Any picture that is chosen or dropped becomes an icon: it is fitted into the square, shown, and sent when asked for.
 * @param {HTMLFormElement} form
 */
export function fitPictures(form) {
  /** @type {HTMLInputElement | null} */
  const input = $("[type=file]", form);
  /** @type {HTMLCanvasElement | null} */
  const canvas = $("canvas", form);
  const hint = $(".hint", form);
  if (!input || !canvas || !hint) return;
  input.accept = "image/png,image/jpeg,image/webp,image/gif,image/bmp,image/avif";
  hint.textContent = "Choose or drop a PNG, JPEG, WebP or GIF.";
  let asked = 0;
  /** @type {File | undefined} */
  let made;
  /** @param {File} file */
  const take = async (file) => {
    const mine = ++asked;
    show(form, undefined);
    try {
      const { icon, facts } = await fitted(file, canvas);
      if (mine !== asked) return;
      const files = new DataTransfer();
      files.items.add(icon);
      made = files.files[0];
      input.files = files.files;
      show(form, { facts });
    } catch (error) {
      if (mine !== asked) return;
      input.value = "";
      show(form, { problem: error instanceof Error ? error.message : String(error) });
    }
  };
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    // Some browsers say so of what was put in just now too.
    if (file && file === made) return;
    if (file) void take(file);
    else show(form, undefined);
  });
  dropInto(form, (file) => void take(file));
  form.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.elt !== form || detail.xhr.status !== 200) return;
    form.reset();
    show(form, undefined);
  });
}

/**
 * @param {HTMLElement} form
 * @param {{ readonly facts?: string, readonly problem?: string } | undefined} outcome
 */
function show(form, outcome) {
  const preview = $(".icon-preview", form);
  const problem = $(".icon-problem", form);
  const facts = $(".icon-facts", form);
  if (!preview || !problem || !facts) return;
  preview.hidden = outcome?.facts === undefined;
  facts.textContent = outcome?.facts ?? "";
  problem.hidden = outcome?.problem === undefined;
  problem.textContent = outcome?.problem ?? "";
}

/**
 * @param {HTMLElement} place
 * @param {(file: File) => void} take
 */
function dropInto(place, take) {
  /** @param {DragEvent} event */
  const isFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false;
  place.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    place.classList.add("dropping");
  });
  place.addEventListener("dragleave", () => place.classList.remove("dropping"));
  place.addEventListener("drop", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    place.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
}

/**
 * The picture as an icon: all of it, in its own proportions, the rest transparent.
 * @param {File} file
 * @param {HTMLCanvasElement} canvas shows what it becomes
 * @returns {Promise<{ readonly icon: File, readonly facts: string }>}
 */
async function fitted(file, canvas) {
  const picture = await decode(file);
  const { width, height } = picture;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser cannot resize pictures. Upload a PNG of 256 × 256 pixels.");
  const scale = side / Math.max(width, height);
  const [w, h] = [width, height].map((length) => Math.max(1, Math.round(length * scale)));
  context.clearRect(0, 0, side, side);
  const source = halved(picture, w ?? side, h ?? side);
  context.imageSmoothingQuality = "high";
  context.drawImage(source, (side - (w ?? side)) / 2, (side - (h ?? side)) / 2, w ?? side, h ?? side);
  picture.close();
  const isIcon = file.type === "image/png" && width === side && height === side && file.size <= mostBytes;
  const icon = isIcon ? file : await pngOf(canvas);
  return { icon, facts: factsOf(file.name, width, height, icon.size, isIcon) };
}

/** @param {File} file */
async function decode(file) {
  if (file.type === "image/svg+xml" || /\.svgz?$/i.test(file.name)) {
    throw new Error("SVG is not supported. Save the picture as PNG.");
  }
  if (file.size > mostFileBytes) {
    throw new Error(
      `This file has ${Math.round(file.size / 1024 / 1024)} MB. Choose a picture of at most 50 MB.`,
    );
  }
  try {
    return await createImageBitmap(file);
  } catch {
    throw new Error(`This browser cannot read “${file.name}”. Save the picture as PNG or JPEG.`);
  }
}

/**
 * A large picture made smaller by halves: in one step, most of its pixels would be left out.
 * @param {ImageBitmap} picture
 * @param {number} width
 * @param {number} height
 * @returns {CanvasImageSource}
 */
function halved(picture, width, height) {
  /** @type {ImageBitmap | HTMLCanvasElement} */
  let source = picture;
  while (source.width >= 2 * width && source.height >= 2 * height) {
    const half = document.createElement("canvas");
    half.width = Math.floor(source.width / 2);
    half.height = Math.floor(source.height / 2);
    const context = half.getContext("2d");
    if (!context) return source;
    context.imageSmoothingQuality = "high";
    context.drawImage(source, 0, 0, half.width, half.height);
    source = half;
  }
  return source;
}

/** @param {HTMLCanvasElement} canvas */
async function pngOf(canvas) {
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null || blob.size > mostBytes) {
    throw new Error("Converting failed. Upload a PNG of 256 × 256 pixels.");
  }
  return new File([blob], "icon.png", { type: "image/png" });
}

/**
 * @param {string} name
 * @param {number} width
 * @param {number} height
 * @param {number} size
 * @param {boolean} isIcon
 */
function factsOf(name, width, height, size, isIcon) {
  const kilobytes = `${Math.max(1, Math.round(size / 1024))} KB`;
  if (isIcon) return `${name}: used unchanged, ${kilobytes}.`;
  const soft = Math.max(width, height) < side ? " The picture is small and will look blurred." : "";
  return `${name}: ${width} × ${height} pixels, fitted to ${side} × ${side}, ${kilobytes}.${soft}`;
}
