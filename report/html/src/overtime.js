// Latency over time: bursts, warm-up, drift.
import { extent, max, min } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { MARGIN, chart, cursor, labelClass, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, svg } from './dom.js';
import { count, time } from './format.js';
import { openInterval } from './links.js';
import { state } from './state.js';

const SCALES = ['log', 'linear'];

/** Lays recordings end to end: where each begins on the common axis, in ns. */
function offsets(data) {
  const length = new Map();
  for (const { run, begin } of data.intervals) length.set(run, Math.max(length.get(run) ?? 0, begin));
  for (const { run, to } of data.periods) length.set(run, Math.max(length.get(run) ?? 0, to));
  const starts = new Map();
  let at = 0;
  for (const run of [...length.keys()].sort((a, b) => a - b)) {
    starts.set(run, at);
    at += length.get(run) * 1.02;
  }
  return starts;
}

export function overTime(data) {
  if (data.intervals.length === 0) return null;
  const starts = offsets(data);
  let scale = state.one('overtime', SCALES, 'log');
  let marked = [];
  const drawing = chart('overtime-chart', 260, () => 'Latency of single intervals by the time they began', (root, width, height) => {
    const when = (interval) => starts.get(interval.run) + interval.begin;
    const x = scaleLinear(extent(data.intervals, when), [MARGIN.left, width - MARGIN.right]);
    const most = max(data.intervals, (interval) => interval.latency);
    const least = Math.max(1, min(data.intervals, (interval) => interval.latency));
    const y = scale === 'log' ? scaleLog([least, Math.max(most, least * 2)], [height - MARGIN.bottom, MARGIN.top])
      : scaleLinear([0, most], [height - MARGIN.bottom, MARGIN.top]);
    yAxis(root, y, 'latency', { width }, scale === 'log' ? timeTicks(y, true, height) : null);
    xAxis(root, x, 'since the recording began', { width, height }, x.ticks(width / 110));
    marked = data.intervals.map((interval) => ({ interval, x: x(when(interval)), y: y(Math.max(interval.latency, least)), open: () => openInterval(interval.id),
      lines: () => [`#${interval.id}  ${time(interval.latency)}`, data.labels[interval.label]?.label ?? ''].filter(Boolean) }));
    for (const { interval, x: cx, y: cy } of marked) {
      root.append(svg('circle', { class: `dot ${labelClass(interval.label)}${interval.worst ? ' worst' : ''}`, cx: cx.toFixed(1), cy: cy.toFixed(1), r: interval.worst ? 3 : 2 }));
    }
    marked.sort((a, b) => a.x - b.x);
    for (const [run, start] of starts) {
      const own = data.periods.filter((period) => period.run === run);
      const path = line((period) => x(start + (period.from + period.to) / 2), (period) => y(Math.max(period.mean, least)));
      root.append(svg('path', { class: 'mean-line', d: path(own) }));
      if (start > 0) root.append(svg('line', { class: 'mark', x1: x(start), x2: x(start), y1: MARGIN.top, y2: height - MARGIN.bottom }));
    }
  });
  cursor(drawing, 'Intervals in the order in which they began', () => marked);
  const scales = choice('Scale', 'overtime-scale', [['log', 'logarithmic'], ['linear', 'linear']], scale,
    (value) => state.set({ overtime: value === 'log' ? null : value }));
  state.listen((changed) => {
    if (!changed.has('overtime')) return;
    scale = state.one('overtime', SCALES, 'log');
    scales.choose(scale);
    drawing.redraw();
  });
  return section('overtime', 'Over time',
    `${data.sampled} of ${count(data.interval.count)} intervals, sampled uniformly, and the ${data.worst} slowest (larger dots). `
    + 'The line is the mean. Stripes of slow intervals point to something periodic. A click opens an interval.',
    el('div', { class: 'controls' }, scales), drawing.holder);
}
