// Latency over time: bursts, warm-up, drift.
import { extent, max, min } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { MARGIN, chart, labelClass, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, svg, tooltip } from './dom.js';
import { count, time } from './format.js';

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
  let scale = 'log';
  const drawing = chart('overtime-chart', 260, () => 'Latency of single intervals by the time they began', (root, width, height) => {
    const when = (interval) => starts.get(interval.run) + interval.begin;
    const x = scaleLinear(extent(data.intervals, when), [MARGIN.left, width - MARGIN.right]);
    const most = max(data.intervals, (interval) => interval.latency);
    const least = Math.max(1, min(data.intervals, (interval) => interval.latency));
    const y = scale === 'log' ? scaleLog([least, Math.max(most, least * 2)], [height - MARGIN.bottom, MARGIN.top])
      : scaleLinear([0, most], [height - MARGIN.bottom, MARGIN.top]);
    yAxis(root, y, 'latency', { width }, scale === 'log' ? timeTicks(y, true, height) : null);
    xAxis(root, x, 'since the recording began', { width, height }, x.ticks(width / 110));
    for (const interval of data.intervals) {
      const dot = svg('circle', { class: `dot ${labelClass(interval.label)}${interval.worst ? ' worst' : ''}`,
        cx: x(when(interval)).toFixed(1), cy: y(Math.max(interval.latency, least)).toFixed(1), r: interval.worst ? 3 : 2 });
      root.append(tooltip(dot, () => [`#${interval.id}  ${time(interval.latency)}`, data.labels[interval.label]?.label ?? '']));
    }
    for (const [run, start] of starts) {
      const own = data.periods.filter((period) => period.run === run);
      const path = line((period) => x(start + (period.from + period.to) / 2), (period) => y(Math.max(period.mean, least)));
      root.append(svg('path', { class: 'mean-line', d: path(own) }));
      if (start > 0) root.append(svg('line', { class: 'mark', x1: x(start), x2: x(start), y1: MARGIN.top, y2: height - MARGIN.bottom }));
    }
  });
  return section('overtime', 'Over time',
    `${data.sampled} of ${count(data.interval.count)} intervals, sampled uniformly, and the ${data.worst} slowest (larger dots). `
    + 'The line is the mean. Stripes of slow intervals point to something periodic.',
    el('div', { class: 'controls' }, choice('Scale', 'overtime-scale', [['log', 'logarithmic'], ['linear', 'linear']], scale,
      (value) => { scale = value; drawing.redraw(); })),
    drawing.holder);
}
