// Elements, made of plain data. Text is always text: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Replaces what a panel shows; the keyboard stays where it was if the same thing is still there.
export function show(panel, ...children) {
  const key = panel.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  panel.replaceChildren(...children.flat().filter(Boolean));
  if (key !== undefined) panel.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

// A button that does one thing; its key is what it is known by when the panel is drawn anew.
export function button(text, key, onclick, properties = {}) {
  return h("button", { type: "button", "data-key": key, onclick, ...properties }, text);
}
