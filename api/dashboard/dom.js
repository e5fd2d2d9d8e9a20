// Elements and formats. All texts are text nodes: nothing from the daemon is parsed as HTML.

/**
 * h creates an element. Of attrs, functions are listeners, true is an attribute without a value,
 * and false and null are left out.
 */
export function h(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [name, v] of Object.entries(attrs ?? {})) {
    if (v == null || v === false) continue;
    if (typeof v === "function") e.addEventListener(name.slice(2), v);
    else if (name === "value") e.value = v;
    else e.setAttribute(name, v === true ? "" : v);
  }
  e.append(...children.flat(3).filter((c) => c != null && c !== false));
  return e;
}

/** setChildren replaces the children of an element. */
export const setChildren = (e, ...children) =>
  e.replaceChildren(...children.flat(3).filter((c) => c != null && c !== false));

/**
 * setText changes a text only if it differs, so that a selection and the position of a screen
 * reader remain.
 */
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/**
 * setEnabled enables or disables a button. A disabled button keeps the focus; with the attribute
 * disabled, the focus would go to the start of the page, which disturbs keyboard users.
 */
export const setEnabled = (button, enabled) =>
  button.setAttribute("aria-disabled", String(!enabled));

addEventListener(
  "click",
  (e) => e.target.closest("button[aria-disabled=true]") && e.stopImmediatePropagation(),
  true,
);

/** focusHeading moves the focus to the heading of a section when the focused element is removed. */
function focusHeading(section) {
  const heading = section?.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

/**
 * syncChildren makes one child of container for each entry of list. It keeps the children of
 * entries that remain, with their focus; make returns a child with root and update.
 */
export function syncChildren(container, list, key, make) {
  const childByKey = (container.kept ??= new Map());
  const keys = new Set(list.map(key));
  for (const [k, child] of childByKey) {
    if (!keys.has(k)) {
      child.end?.();
      if (child.root.contains(document.activeElement)) focusHeading(container.closest("section"));
      child.root.remove();
      childByKey.delete(k);
    }
  }
  list.forEach((entry, i) => {
    let child = childByKey.get(key(entry));
    if (!child) childByKey.set(key(entry), (child = make(entry)));
    child.update(entry);
    if (container.children[i] !== child.root)
      container.insertBefore(child.root, container.children[i] ?? null);
  });
}

const integerFormat = new Intl.NumberFormat("en-US");
export const count = (n) => integerFormat.format(n);
export const plural = (n, noun, nouns = `${noun}s`) => `${count(n)} ${n === 1 ? noun : nouns}`;

/** showProblem shows an error, or a problem of a body, with its hint below. Null removes both. */
export function showProblem(e, p) {
  const text = p ? (p.message ?? p.detail) : "";
  const hint = p?.hint ?? "";
  const sentence = hint.slice(0, 1).toUpperCase() + hint.slice(1);
  if (e.textContent !== text + sentence)
    setChildren(e, text, hint && h("span", { class: "hint" }, sentence));
}

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toPrecision(n >= 10 ? 3 : 2)} ${units[i]}`;
}

export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

export function seconds(s) {
  if (s < 0.1) return `${Math.round(1000 * s)} ms`;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

/** number formats a value with six significant digits. */
export function number(v) {
  if (v == null) return "missing";
  if (typeof v === "string") return v === "Infinity" ? "∞" : v === "-Infinity" ? "−∞" : v;
  if (Number.isInteger(v)) return count(v).replace("-", "−");
  const a = Math.abs(v);
  return (a >= 1e6 || a < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(6)))).replace(
    "-",
    "−",
  );
}

/** itemName formats the value of an item. A dataset without item_id has one unnamed series. */
export const itemName = (v) =>
  v == null ? "the one series" : Array.isArray(v) ? v.join(", ") : String(v);

/** bar returns a bar of parts, each [share of the bar, class]. */
export function bar(label, parts) {
  const root = h("div", { class: "bar", role: "img", "aria-label": label, title: label });
  for (const [share, className] of parts) {
    const segment = h("span", { class: className });
    segment.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    root.append(segment);
  }
  return root;
}

/** announce makes a screen reader read a text. */
export function announce(text) {
  setText(document.getElementById("announce"), text);
}

/** confirm asks for confirmation. It resolves to true or false. */
export function confirm(title, text, action) {
  const dialog = document.getElementById("dialog");
  return new Promise((resolve) => {
    let confirmed = false;
    setChildren(
      dialog,
      h("h2", { id: "dialog-title" }, title),
      h("p", null, text),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        h(
          "button",
          { type: "button", class: "danger", onclick: () => ((confirmed = true), dialog.close()) },
          action,
        ),
      ),
    );
    const settle = () => {
      if (dialog.open) return; // a late event of the question before, whose dialog this is too
      dialog.removeEventListener("close", settle);
      resolve(confirmed);
    };
    dialog.addEventListener("close", settle);
    dialog.showModal();
  });
}
