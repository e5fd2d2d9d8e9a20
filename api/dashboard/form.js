// The spec, edited in place: a form and the raw JSON of the same request, with what the daemon refuses beside the field at fault.

import { h, put, say } from "./dom.js";
import { groups, fields, value, write } from "./fields.js";

export class Form {
  /** changed is called with the request, {spec, split, options, cuts}, whenever it is another. */
  constructor(root, changed) {
    this.changed = changed;
    this.inputs = new Map();
    this.extra = {}; // what the form has no field for: cuts, and unknown fields, which the daemon names
    this.general = h("p", { class: "problem", id: "form-problem", role: "status" });
    this.raw = h("textarea", { id: "raw", rows: "10", spellcheck: "false", "aria-describedby": "raw-hint raw-problem", oninput: () => this.rawEdited() });
    this.rawProblem = h("p", { class: "problem", id: "raw-problem", role: "status" });
    put(
      root,
      h("form", { onsubmit: (e) => e.preventDefault(), autocomplete: "off" }, groups.map((g) => this.group(g))),
      this.general,
      h(
        "details",
        { class: "group" },
        h("summary", null, "As JSON"),
        h("label", { for: "raw" }, "The request of this plan"),
        this.raw,
        h("p", { class: "hint", id: "raw-hint" }, "The body of POST …/plan: spec, split, cuts, options."),
        this.rawProblem,
      ),
    );
  }

  group(g) {
    return h("details", { class: "group", open: g.open }, h("summary", null, g.title), h("div", { class: "fields" }, g.fields.map((f) => this.field(f))));
  }

  field(f) {
    const id = `f-${f.of}-${f.name}`;
    const problem = h("p", { class: "problem", id: `${id}-problem` });
    const hint = f.hint ? h("p", { class: "hint", id: `${id}-hint` }, f.hint) : null;
    const attrs = { id, name: f.name, "aria-describedby": [hint && `${id}-hint`, `${id}-problem`].filter(Boolean).join(" "), oninput: () => this.edited() };
    let input;
    if (f.kind === "choice") input = h("select", attrs, f.options.map((o) => h("option", { value: o }, o || "default")));
    else if (f.kind === "tick") input = h("input", { ...attrs, type: "checkbox" });
    else input = h("input", { ...attrs, type: "text", inputmode: f.kind === "number" ? "numeric" : null, spellcheck: "false", class: f.kind });
    this.inputs.set(f, { input, problem });
    return h("div", { class: `field ${f.kind}` }, h("label", { for: id }, f.label), input, hint, problem);
  }

  /** show puts a request into the form. */
  show(request) {
    for (const [f, { input }] of this.inputs) write(f, input, request[f.of]?.[f.name]);
    this.keepExtra(request);
    this.raw.value = JSON.stringify(request, null, 1);
    say(this.rawProblem, "");
  }

  keepExtra(request) {
    this.extra = {};
    for (const [part, body] of Object.entries(request)) {
      if (body === null || typeof body !== "object" || Array.isArray(body)) this.extra[part] = body;
      else {
        const rest = Object.entries(body).filter(([k]) => !fields.some((f) => f.of === part && f.name === k));
        if (rest.length || !["spec", "split", "options"].includes(part)) this.extra[part] = Object.fromEntries(rest);
      }
    }
  }

  edited() {
    const request = { spec: {} };
    for (const [f, { input }] of this.inputs) {
      const v = value(f, input);
      if (v !== undefined) (request[f.of] ??= {})[f.name] = v;
    }
    for (const [part, rest] of Object.entries(this.extra)) {
      request[part] = rest !== null && typeof rest === "object" && !Array.isArray(rest) ? { ...rest, ...request[part] } : rest;
    }
    this.raw.value = JSON.stringify(request, null, 1);
    say(this.rawProblem, "");
    this.changed(request);
  }

  rawEdited() {
    let request;
    try {
      request = JSON.parse(this.raw.value);
      if (request === null || typeof request !== "object" || Array.isArray(request)) throw new Error("want an object as {\"spec\": {…}}");
    } catch (e) {
      say(this.rawProblem, `no JSON: ${e.message}`);
      return;
    }
    say(this.rawProblem, "");
    for (const [f, { input }] of this.inputs) write(f, input, request[f.of]?.[f.name]);
    this.keepExtra(request);
    this.changed(request);
  }

  /** refuse shows a problem beside its field, or below the form where it is none of them; null takes it away. */
  refuse(p) {
    const name = p?.field?.replace(/^(spec|split|options|cuts)\./, "").replace(/\[.*$/, "");
    let found = false;
    for (const [f, { input, problem }] of this.inputs) {
      const here = p !== null && !found && f.name === name && this.holds(f, input, p);
      found ||= here;
      say(problem, here ? text(p) : "");
      if (here) {
        input.setAttribute("aria-invalid", "true");
        input.closest("details").open = true;
      } else input.removeAttribute("aria-invalid");
    }
    say(this.general, p !== null && !found ? text(p) : "");
  }

  /** holds tells fields of one name apart: columns of the spec and of nothing else, items of a split only. */
  holds(f) {
    return fields.filter((other) => other.name === f.name)[0] === f;
  }
}

const text = (p) => `${p.message}${p.hint ? `. ${p.hint}` : ""}`;
