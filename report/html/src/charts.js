// Axes and frames that the charts share. A chart redraws when its width changes.
import { axisBottom, axisLeft } from 'd3-axis';
import { select as d3 } from 'd3-selection';
import { el, svg } from './dom.js';
import { time } from './format.js';

export const MARGIN = { top: 12, right: 18, bottom: 40, left: 64 };

/** Calls `draw(root, width, height)` to fill an SVG, now and whenever the width changes. */
export function chart(id, height, label, draw) {
  const holder = el('div', { class: 'chart', id });
  let width = 0;
  const redraw = () => {
    if (width < 50) return;
    const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label() });
    draw(root, width, height);
    holder.replaceChildren(root);
  };
  new ResizeObserver(() => {
    const now = Math.floor(holder.clientWidth);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(holder);
  return { holder, redraw };
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
