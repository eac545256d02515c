// Axes, frames and cursors that the charts share. A chart redraws when its width changes.
import { axisBottom, axisLeft } from 'd3-axis';
import { select as d3 } from 'd3-selection';
import { el, hoverTip, svg } from './dom.js';
import { time } from './format.js';

export const MARGIN = { top: 12, right: 18, bottom: 40, left: 64 };

/** Calls `draw(root, width, height)` to fill an SVG, now and whenever the width changes. */
export function chart(id, height, label, draw) {
  const holder = el('div', { class: 'chart', id, style: `min-height:${height}px` });
  let width = 0;
  const redraw = () => {
    if (width < 50) return;
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label() });
    draw(root, width, height);
    holder.querySelector('svg')?.remove();
    holder.prepend(root);
  };
  new ResizeObserver(() => {
    const now = Math.floor(holder.clientWidth);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(holder);
  return { holder, redraw };
}

/** Lets pointer and keyboard visit the marks of a chart: a slider whose value is a mark, which screen readers read out.
 *    marks()      {x, y, lines, open} in the order of the arrow keys; `lines` describes it, `open` follows it
 *    name         of the slider
 *    reach        how far the pointer may be from a mark, in pixels; infinite: only the horizontal distance counts */
export function cursor(drawing, name, marks, reach = 14) {
  let at = 0;
  const ring = svg('circle', { class: 'ring', r: 6 });
  const keys = el('div', { class: 'cursor', role: 'slider', tabindex: 0, 'aria-label': name, 'aria-valuemin': 1, 'aria-valuemax': 1, 'aria-valuenow': 1 });
  drawing.holder.append(keys);

  function show(index) {
    const all = marks();
    keys.hidden = all.length === 0;
    if (keys.hidden) return;
    at = Math.max(0, Math.min(index, all.length - 1));
    const text = all[at].lines().join(', ');
    for (const [attribute, value] of [['aria-valuemax', all.length], ['aria-valuenow', at + 1], ['aria-valuetext', text]]) keys.setAttribute(attribute, value);
    keys.textContent = text;
    ring.setAttribute('cx', all[at].x);
    ring.setAttribute('cy', all[at].y);
    drawing.holder.querySelector('svg')?.append(ring);
  }
  keys.addEventListener('focus', () => show(at));
  keys.addEventListener('blur', () => ring.remove());
  keys.addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20 };
    if (steps[event.key]) show(at + steps[event.key]);
    else if (event.key === 'Home') show(0);
    else if (event.key === 'End') show(Infinity);
    else if (event.key === 'Enter' || event.key === ' ') marks()[at]?.open();
    else return;
    event.preventDefault();
  });

  function nearest(event) {
    const box = drawing.holder.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = reach === Infinity ? Infinity : reach * reach;
    marks().forEach((mark, i) => {
      const far = (mark.x - x) ** 2 + (reach === Infinity ? 0 : (mark.y - y) ** 2);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }
  hoverTip(drawing.holder, (target, event) => {
    const index = target === keys ? null : nearest(event);
    drawing.holder.classList.toggle('over', index !== null);
    return index === null ? null : marks()[index].lines();
  });
  drawing.holder.addEventListener('click', (event) => {
    const index = event.target === keys ? null : nearest(event);
    if (index !== null) marks()[index].open();
  });
  return { reset: () => { at = 0; show(0); ring.remove(); } };
}

export function timeTicks(scale, logarithmic, pixels) {
  const wanted = Math.max(2, Math.floor(pixels / 80));
  const ticks = scale.ticks(wanted);
  if (!logarithmic) return ticks;
  const round = ticks.filter((t) => [1, 2, 5].includes(Number(String(t.toPrecision(1))[0])));
  if (round.length <= wanted) return round.length > 1 ? round : ticks;
  const decades = ticks.filter((t) => Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-9);
  return decades.length > 1 ? decades : round;
}

export function xAxis(root, scale, title, { width, height }, ticks, format = time) {
  const axis = axisBottom(scale).tickFormat(format);
  if (ticks) axis.tickValues(ticks);
  const g = svg('g', { class: 'axis', transform: `translate(0,${height - MARGIN.bottom})` });
  d3(g).call(axis);
  root.append(g, svg('text', { class: 'axis-title', x: width - MARGIN.right, y: height - 4, 'text-anchor': 'end' }, title));
}

export function yAxis(root, scale, title, { width }, ticks, format = time) {
  const axis = axisLeft(scale).tickFormat(format).tickSize(-(width - MARGIN.left - MARGIN.right));
  if (ticks) axis.tickValues(ticks);
  else axis.ticks(5);
  const g = svg('g', { class: 'axis grid', transform: `translate(${MARGIN.left},0)` });
  d3(g).call(axis);
  root.append(g, svg('text', { class: 'axis-title', x: 4, y: MARGIN.top - 2 }, title));
}

/** Class, and so colour, of a label. The seventh and all later ones share one. */
export const labelClass = (label) => `label-${Math.min(label, 6)}`;

export function labelLegend(data) {
  const labels = data.labels.map((label) => label.label || '(none)');
  if (labels.length < 2) return null;
  const shown = labels.slice(0, 6).map((label, i) => [labelClass(i), label]);
  if (labels.length > 6) shown.push([labelClass(6), `${labels.length - 6} more`]);
  return legend(shown);
}

export function legend(entries) {
  return el('ul', { class: 'legend' }, entries.map(([style, text]) =>
    el('li', {}, el('span', { class: `swatch ${style}` }), text)));
}
