// DOM elements. Names come from sources and traces, so all text becomes text nodes and attribute values,
// never markup.
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

/** Shows control characters as codes, including those that reverse or hide text. */
export function visible(text) {
  return String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Replaces all children of an element; nulls add nothing. */
export function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

/** A labelled choice of one among few: radio buttons that look like one bar. */
export function choice(label, name, options, chosen, onchange) {
  return el('fieldset', { class: 'choice' }, el('legend', {}, label),
    options.map(([value, text]) => {
      const id = `${name}-${value}`;
      return [
        el('input', { type: 'radio', name, id, value, checked: value === chosen, onchange: () => onchange(value) }),
        el('label', { for: id }, text),
      ];
    }));
}

export function select(label, id, options, chosen, onchange) {
  const box = el('select', { id, onchange: (event) => onchange(event.target.value) },
    options.map(([value, text]) => el('option', { value, selected: value === chosen }, text)));
  return el('label', { class: 'select' }, `${label} `, box);
}

/** A section of the page, with its heading and a hint. */
export function section(id, title, hint, ...children) {
  return el('section', { id, 'aria-labelledby': `${id}-title` },
    el('h2', { id: `${id}-title` }, title), hint ? el('p', { class: 'hint' }, hint) : null, ...children);
}

/** Cuts text to a number of pixels, at the width of the small font. */
export function cut(text, pixels) {
  const shown = visible(text);
  const most = Math.floor(pixels / 7);
  if (shown.length <= most) return shown;
  return most < 3 ? '' : `${shown.slice(0, most - 1)}…`;
}

const tip = el('div', { id: 'tip', role: 'tooltip', hidden: true });

/** Shows a few lines next to the pointer while it is over the element. */
export function tooltip(element, lines) {
  const show = (event) => {
    tip.replaceChildren(...lines().map((line, i) => el(i === 0 ? 'strong' : 'div', {}, line)));
    if (!tip.isConnected) document.body.append(tip);
    tip.hidden = false;
    const { clientX: x, clientY: y } = event;
    tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18}px`;
  };
  element.addEventListener('pointermove', show);
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
  return element;
}
