// The distribution of latencies, with percentiles.
import { scaleLinear, scaleLog, scaleSqrt } from 'd3-scale';
import { MARGIN, chart, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, select, svg, tooltip } from './dom.js';
import { count, time } from './format.js';

/** Turns bins of unequal width into columns of equal width on the axis. Spreads a bin's intervals evenly over it. */
function columns(bins, x, width) {
  const size = 6;
  const from = x.range()[0];
  const made = Array.from({ length: Math.ceil((x.range()[1] - from) / size) }, () => 0);
  for (const [low, high, n] of bins) {
    const a = Math.max(0, (x(Math.max(low, x.domain()[0])) - from) / size);
    const b = Math.max(a + 1e-9, (x(Math.max(high, x.domain()[0])) - from) / size);
    for (let i = Math.floor(a); i < Math.min(Math.ceil(b), made.length); ++i) {
      made[i] += (n * (Math.min(b, i + 1) - Math.max(a, i))) / (b - a);
    }
  }
  return made.map((n, i) => ({ x: from + i * size, width: Math.min(size, width - i * size), n }));
}

export function histogram(data) {
  let label = 'all';
  let vertical = 'linear';
  const figures = () => {
    if (label === 'all') {
      const { p50_ns, p95_ns, p99_ns, p999_ns } = data.interval;
      return { bins: data.bins, marks: [['p50', p50_ns], ['p95', p95_ns], ['p99', p99_ns], ['p99.9', p999_ns]] };
    }
    const own = data.labels[Number(label)];
    return { bins: own.bins, marks: [['p50', own.p50_ns], ['p95', own.p95_ns], ['p99', own.p99_ns]] };
  };

  const drawing = chart('histogram-chart', 260, () => `Distribution of the latency, ${count(data.interval.count)} intervals`,
    (root, width, height) => {
      const { bins, marks } = figures();
      if (bins.length === 0) return;
      const low = Math.max(1, data.bins[0][0]);
      const x = scaleLog([low, Math.max(low * 2, data.bins[data.bins.length - 1][1])], [MARGIN.left, width - MARGIN.right]);
      const bars = columns(bins, x, width);
      const most = Math.max(...bars.map((bar) => bar.n), 1);
      const y = (vertical === 'linear' ? scaleLinear : scaleSqrt)([0, most], [height - MARGIN.bottom, MARGIN.top + 14]);
      yAxis(root, y, 'intervals', { width }, null, (n) => count(Math.round(n)));
      xAxis(root, x, 'latency (logarithmic)', { width, height }, timeTicks(x, true, width));
      const total = bins.reduce((sum, bin) => sum + bin[2], 0);
      for (const bar of bars) {
        if (bar.n <= 0) continue;
        const top = Math.min(y(bar.n), height - MARGIN.bottom - 1.5);
        const rect = svg('rect', { class: 'bar', x: bar.x + 0.5, y: top, width: 5, height: height - MARGIN.bottom - top });
        root.append(tooltip(rect, () => [`${time(x.invert(bar.x))} to ${time(x.invert(bar.x + 6))}`,
          `about ${count(Math.round(bar.n))} intervals, ${((100 * bar.n) / total).toFixed(2)} %`]));
      }
      let occupied = 0; // right end of the label drawn last in the upper row
      for (const [name, ns] of marks) {
        if (!(ns > 0)) continue;
        const at = x(Math.max(ns, low));
        root.append(svg('line', { class: 'mark', x1: at, x2: at, y1: MARGIN.top + 4, y2: height - MARGIN.bottom }));
        const atEdge = at > width - 100;
        const left = atEdge ? at - 92 : at;
        const near = left < occupied;
        root.append(svg('text', { class: 'mark-text', x: at + (atEdge ? -3 : 3), y: MARGIN.top + (near ? 22 : 10),
          'text-anchor': atEdge ? 'end' : 'start' }, `${name} ${time(ns)}`));
        occupied = near ? 0 : left + 92;
      }
    });

  const labels = data.labels.length > 1 && data.labels.some((own) => own.bins.length > 0);
  return section('histogram', 'Distribution', 'How often each latency occurred. Two peaks mean two kinds of work: different labels, or a rare path.',
    el('div', { class: 'controls' },
      labels ? select('Label', 'histogram-label', [['all', 'all'], ...data.labels.slice(0, 100).map((own, i) =>
        [String(i), `${own.label || '(none)'} (${count(own.count)})`])], 'all', (value) => { label = value; drawing.redraw(); }) : null,
      choice('Height', 'histogram-height', [['linear', 'linear'], ['sqrt', 'square root']], 'linear',
        (value) => { vertical = value; drawing.redraw(); })),
    drawing.holder);
}
