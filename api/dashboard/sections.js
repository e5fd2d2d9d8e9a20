// The links to the sections of the overview, with what each holds.

import { h, setText, count } from "./dom.js";
import * as live from "./live.js";

const isActive = (j) => j.state === "queued" || j.state === "running";
const counts = {
  datasets: (body) => `${count(body.datasets.length)}${body.next ? "+" : ""}`,
  jobs: (body) => `${count(body.jobs.filter(isActive).length)} running`,
  feeds: (body) => count(body.feeds.length),
};

/** goToSection scrolls to a section of the overview and moves the focus to its heading. */
export function goToSection(name) {
  const heading = document.getElementById(`h-${name}`);
  if (!heading || !(name in counts)) return;
  heading.setAttribute("tabindex", "-1");
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
}

/** showSections fills root with the links. */
export function showSections(root) {
  for (const [name, text] of Object.entries(counts)) {
    const number = h("span", { class: "quiet num" });
    const link = h("a", { href: `#/${name}` }, name[0].toUpperCase() + name.slice(1));
    link.addEventListener("click", (e) => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      goToSection(name);
    });
    root.append(h("span", null, link, " ", number));
    live.on(name, (body) => setText(number, text(body)));
  }
}
