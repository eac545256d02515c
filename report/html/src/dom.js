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

/** A labelled choice of one among few: radio buttons that look like one bar. `choose(value)` of the result changes
 * the choice without telling anybody. */
export function choice(label, name, options, chosen, onchange) {
  const inputs = options.map(([value]) => el('input', { type: 'radio', name, id: `${name}-${value}`, value, checked: value === chosen, onchange: () => onchange(value) }));
  const bar = el('fieldset', { class: 'choice' }, el('legend', {}, label),
    options.map(([, text], i) => [inputs[i], el('label', { for: inputs[i].id }, text)]));
  bar.choose = (value) => { for (const input of inputs) input.checked = input.value === value; };
  return bar;
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

function showTip(lines, { clientX: x, clientY: y }) {
  tip.replaceChildren(...lines.map((line, i) => el(i === 0 ? 'strong' : 'div', {}, line)));
  if (!tip.isConnected) document.body.append(tip);
  tip.hidden = false;
  tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18}px`;
}

/** Shows a few lines next to the pointer. `lines(target)` gives them for what is under the pointer; null: nothing. */
export function hoverTip(holder, lines) {
  holder.addEventListener('pointermove', (event) => {
    const shown = lines(event.target, event);
    if (shown) showTip(shown, event);
    else tip.hidden = true;
  });
  holder.addEventListener('pointerleave', () => { tip.hidden = true; });
  holder.addEventListener('click', () => { tip.hidden = true; });
}
