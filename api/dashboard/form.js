// The form of a plan request, and the same request as JSON. Problems are shown beside their fields.

import { h, setChildren, setText, showProblem } from "./dom.js";
import { groups, fields, readInput, writeInput } from "./fields.js";

export class Form {
  /** onChange is called with the changed request, {spec, split, options, cuts}. */
  constructor(root, onChange) {
    this.onChange = onChange;
    this.inputs = new Map();
    this.extra = {}; // cuts and unknown fields, which have no input
    this.raw = h("textarea", {
      id: "raw",
      rows: "10",
      spellcheck: "false",
      "aria-describedby": "raw-hint raw-problem",
      oninput: () => this.handleRawEdit(),
    });
    this.rawProblem = h("p", { class: "problem", id: "raw-problem", role: "status" });
    setChildren(
      root,
      h(
        "form",
        { onsubmit: (e) => e.preventDefault(), autocomplete: "off" },
        groups.map((g) => this.groupElement(g)),
      ),
      h(
        "details",
        { class: "group" },
        h("summary", null, "As JSON"),
        h("label", { for: "raw" }, "The request of this plan"),
        this.raw,
        h(
          "p",
          { class: "hint", id: "raw-hint" },
          "The body of POST …/plan: spec, split, cuts, options.",
        ),
        this.rawProblem,
      ),
    );
  }

  groupElement(g) {
    return h(
      "details",
      { class: "group", open: g.open },
      h("summary", null, g.title),
      h(
        "div",
        { class: "fields" },
        g.fields.map((f) => this.fieldElement(f)),
      ),
    );
  }

  fieldElement(f) {
    const id = `f-${f.part}-${f.name}`;
    const problem = h("p", { class: "problem", id: `${id}-problem` });
    const hint = f.hint ? h("p", { class: "hint", id: `${id}-hint` }, f.hint) : null;
    const attrs = {
      id,
      name: f.name,
      "aria-describedby": [hint && `${id}-hint`, `${id}-problem`].filter(Boolean).join(" "),
      oninput: () => this.handleEdit(),
    };
    let input;
    if (f.kind === "choice")
      input = h(
        "select",
        attrs,
        f.options.map((o) => h("option", { value: o }, o || "default")),
      );
    else if (f.kind === "tick") input = h("input", { ...attrs, type: "checkbox" });
    else
      input = h("input", {
        ...attrs,
        type: "text",
        inputmode: f.kind === "number" ? "numeric" : null,
        spellcheck: "false",
        class: f.kind,
      });
    this.inputs.set(f, { input, problem });
    return h(
      "div",
      { class: `field ${f.kind}` },
      h("label", { for: id }, f.label),
      input,
      hint,
      problem,
    );
  }

  /** show shows a request. */
  show(request) {
    for (const [f, { input }] of this.inputs) writeInput(f, input, request[f.part]?.[f.name]);
    this.keepExtra(request);
    this.raw.value = JSON.stringify(request, null, 1);
    setText(this.rawProblem, "");
  }

  keepExtra(request) {
    this.extra = {};
    for (const [part, body] of Object.entries(request)) {
      if (body === null || typeof body !== "object" || Array.isArray(body)) this.extra[part] = body;
      else {
        const rest = Object.entries(body).filter(
          ([k]) => !fields.some((f) => f.part === part && f.name === k),
        );
        if (rest.length || !["spec", "split", "options"].includes(part))
          this.extra[part] = Object.fromEntries(rest);
      }
    }
  }

  handleEdit() {
    const request = { spec: {} };
    for (const [f, { input }] of this.inputs) {
      const v = readInput(f, input);
      if (v !== undefined) (request[f.part] ??= {})[f.name] = v;
    }
    for (const [part, rest] of Object.entries(this.extra)) {
      request[part] =
        rest !== null && typeof rest === "object" && !Array.isArray(rest)
          ? { ...rest, ...request[part] }
          : rest;
    }
    this.raw.value = JSON.stringify(request, null, 1);
    setText(this.rawProblem, "");
    this.onChange(request);
  }

  handleRawEdit() {
    let request;
    try {
      request = JSON.parse(this.raw.value);
      if (request === null || typeof request !== "object" || Array.isArray(request))
        throw new Error('want an object as {"spec": {…}}');
    } catch (e) {
      setText(this.rawProblem, `no JSON: ${e.message}`);
      return;
    }
    setText(this.rawProblem, "");
    for (const [f, { input }] of this.inputs) writeInput(f, input, request[f.part]?.[f.name]);
    this.keepExtra(request);
    this.onChange(request);
  }

  /** showProblem shows a problem beside its field, if it has one. With null it removes it. */
  showProblem(p) {
    const field = p?.field ?? (p?.type === "no_windows" ? "context_length" : undefined);
    const name = field?.replace(/^(spec|split|options|cuts)\./, "").replace(/\[.*$/, "");
    let found = false;
    for (const [f, { input, problem }] of this.inputs) {
      const here = p !== null && !found && f.name === name && this.ownsName(f, input, p);
      found ||= here;
      showProblem(problem, here ? p : null);
      if (here) {
        input.setAttribute("aria-invalid", "true");
        input.closest("details").open = true;
      } else input.removeAttribute("aria-invalid");
    }
  }

  /**
   * ownsName reports whether the field gets the problems of its name, which several parts may have.
   */
  ownsName(f) {
    return fields.filter((other) => other.name === f.name)[0] === f;
  }
}
