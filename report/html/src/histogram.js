// The distribution of latencies, with percentiles.
import { scaleLinear, scaleLog, scaleSqrt } from 'd3-scale';
import { MARGIN, chart, cursor, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, select, svg } from './dom.js';
import { count, time } from './format.js';
import { openInterval } from './links.js';
import { state } from './state.js';

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

/** The interval that stands for a bar: one with a timeline, if there is one, next to the bar's middle. */
function intervalIn(data, from, to, label) {
  const middle = Math.sqrt(from * to);
  const next = (list) => list.reduce((best, one) =>
    (best === null || Math.abs(one.latency - middle) < Math.abs(best.latency - middle) ? one : best), null);
  const within = data.intervals.filter((one) => one.latency >= from && one.latency < to && (label === 'all' || one.label === Number(label)));
  return next(within.filter((one) => data.timelineOf.has(one.id))) ?? next(within);
}

export function histogram(data) {
  const labelKeys = ['all', ...data.labels.slice(0, 100).map((_, i) => String(i))];
  let label = state.one('label', labelKeys, 'all');
  let vertical = state.one('height', ['linear', 'sqrt'], 'linear');
  let marked = [];
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
      marked = [];
      for (const bar of bars) {
        if (bar.n <= 0) continue;
        const top = Math.min(y(bar.n), height - MARGIN.bottom - 1.5);
        const [from, to] = [x.invert(bar.x), x.invert(bar.x + 6)];
        const one = intervalIn(data, from, to, label);
        root.append(svg('rect', { class: one ? 'bar open' : 'bar', x: bar.x + 0.5, y: top, width: 5, height: height - MARGIN.bottom - top }));
        marked.push({ x: bar.x + 3, y: top, open: () => { if (one) openInterval(one.id); }, lines: () => [`${time(from)} to ${time(to)}`,
          `about ${count(Math.round(bar.n))} intervals, ${((100 * bar.n) / total).toFixed(2)} %`,
          one ? `a click opens #${one.id}, ${time(one.latency)}` : 'none of them is among those that the page holds'] });
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

  const visit = cursor(drawing, 'Columns of the distribution', () => marked, Infinity);
  const set = (changes) => { state.set(changes); };
  const box = select('Label', 'histogram-label', [['all', 'all'], ...data.labels.slice(0, 100).map((own, i) =>
    [String(i), `${own.label || '(none)'} (${count(own.count)})`])], label, (value) => set({ label: value === 'all' ? null : value }));
  const height = choice('Height', 'histogram-height', [['linear', 'linear'], ['sqrt', 'square root']], vertical,
    (value) => set({ height: value === 'linear' ? null : value }));
  state.listen((changed) => {
    if (!changed.has('label') && !changed.has('height')) return;
    label = box.querySelector('select').value = state.one('label', labelKeys, 'all');
    vertical = state.one('height', ['linear', 'sqrt'], 'linear');
    height.choose(vertical);
    drawing.redraw();
    visit.reset();
  });
  const labels = data.labels.length > 1 && data.labels.some((own) => own.bins.length > 0);
  return section('histogram', 'Distribution',
    'How often each latency occurred. Two peaks mean two kinds of work: different labels, or a rare path. A column opens one of its intervals.',
    el('div', { class: 'controls' }, labels ? box : null, height), drawing.holder);
}
