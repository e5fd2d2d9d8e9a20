// Elements and words. Text goes in as text: nothing that comes from the daemon is ever read as HTML.

/** h makes an element. Of attrs, functions are listeners, true and false set or leave out, null leaves out. */
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

/** put replaces what an element holds. */
export const put = (e, ...children) => e.replaceChildren(...children.flat(3).filter((c) => c != null && c !== false));

/** say sets a text only where it differs, so that a selection and a screen reader's place stay. */
export function say(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/**
 * allow lets a button be pressed or not. One that is not to be pressed keeps the focus, which the attribute disabled would throw back
 * to the page's start, with whoever has no mouse.
 */
export const allow = (button, yes) => button.setAttribute("aria-disabled", String(!yes));

addEventListener("click", (e) => e.target.closest("button[aria-disabled=true]") && e.stopImmediatePropagation(), true);

/** back puts the focus on the heading of a section, where what had it goes. */
function back(section) {
  const heading = section?.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

/** keyed keeps one child of container for each entry of list; make gives a child with an update. Focus stays where it is. */
export function keyed(container, list, key, make) {
  const kept = (container.kept ??= new Map());
  const wanted = new Set(list.map(key));
  for (const [k, child] of kept) {
    if (!wanted.has(k)) {
      child.end?.();
      if (child.root.contains(document.activeElement)) back(container.closest("section"));
      child.root.remove();
      kept.delete(k);
    }
  }
  list.forEach((entry, i) => {
    let child = kept.get(key(entry));
    if (!child) kept.set(key(entry), (child = make(entry)));
    child.update(entry);
    if (container.children[i] !== child.root) container.insertBefore(child.root, container.children[i] ?? null);
  });
}

const whole = new Intl.NumberFormat("en-US");
export const count = (n) => whole.format(n);
export const counted = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;

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

/** number shows a value as a reader wants it: six digits. */
export function number(v) {
  if (v == null) return "missing";
  if (typeof v === "string") return v === "Infinity" ? "∞" : v === "-Infinity" ? "−∞" : v;
  if (Number.isInteger(v)) return count(v).replace("-", "−");
  const a = Math.abs(v);
  return (a >= 1e6 || a < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(6)))).replace("-", "−");
}

/** itemName shows an item's value; a dataset without item_id has one series. */
export const itemName = (v) => (v == null ? "the one series" : Array.isArray(v) ? v.join(", ") : String(v));

/** bar is a meter of shares of a whole, each a part [share, class]. */
export function bar(label, parts) {
  const root = h("div", { class: "bar", role: "img", "aria-label": label, title: label });
  for (const [share, kind] of parts) {
    const piece = h("span", { class: kind });
    piece.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    root.append(piece);
  }
  return root;
}

/** announce tells a screen reader, politely. */
export function announce(text) {
  say(document.getElementById("announce"), text);
}

/** confirm asks before something that cannot be undone; it resolves to true or false. */
export function confirm(title, text, action) {
  const d = document.getElementById("dialog");
  return new Promise((resolve) => {
    let yes = false;
    put(
      d,
      h("h2", { id: "dialog-title" }, title),
      h("p", null, text),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => d.close() }, "Cancel"),
        h("button", { type: "button", class: "danger", onclick: () => ((yes = true), d.close()) }, action),
      ),
    );
    d.addEventListener("close", () => resolve(yes), { once: true });
    d.showModal();
  });
}
