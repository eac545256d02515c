// A factor's time against the latency; for a covariance, the times of its two functions against each other.
import { max, min } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { MARGIN, chart, cursor, labelClass, labelLegend, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, select, svg } from './dom.js';
import { time } from './format.js';
import { openInterval } from './links.js';
import { factorName, hasTimes, timeIn } from './model.js';
import { state } from './state.js';

const SCALES = ['linear', 'log'];

function correlation(pairs) {
  const n = pairs.length;
  if (n < 3) return null;
  const mean = (i) => pairs.reduce((sum, pair) => sum + pair[i], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  let xx = 0; let yy = 0; let xy = 0;
  for (const [x, y] of pairs) {
    xx += (x - mx) ** 2; yy += (y - my) ** 2; xy += (x - mx) * (y - my);
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;
}

export function scatter(data) {
  if (data.intervals.length === 0 || data.factors.length === 0) return null;
  const choices = data.factors.filter(hasTimes);
  if (choices.length === 0) return null;
  const wanted = () => data.factors[state.number('factor', data.factors.length, 0)];
  const shown = () => (hasTimes(wanted()) ? wanted() : choices[0]);
  let scale = state.one('scatter', SCALES, 'linear');
  let marked = [];
  const note = el('p', { class: 'hint', id: 'scatter-note', 'aria-live': 'polite' });
  const axes = () => {
    const factor = shown();
    const [a, b] = factor.columns;
    return {
      xName: factor.functions[0], yName: factor.kind === 'covariance' ? factor.functions[1] : 'latency',
      x: (interval) => timeIn(interval, a),
      y: factor.kind === 'covariance' ? (interval) => timeIn(interval, b) : (interval) => interval.latency,
    };
  };
  const drawing = chart('scatter-chart', 340, () => `Time of ${factorName(shown())} against latency`,
    (root, width, height) => {
      const { xName, yName, x: xOf, y: yOf } = axes();
      const logarithmic = scale === 'log';
      const range = (of, pixels) => {
        const most = Math.max(max(data.intervals, of), 1);
        if (!logarithmic) return scaleLinear([0, most * 1.02], pixels);
        const least = min(data.intervals.map(of).filter((v) => v > 0)) ?? 1;
        return scaleLog([least, Math.max(most, least * 2)], pixels).clamp(true);
      };
      const x = range(xOf, [MARGIN.left, width - MARGIN.right]);
      const y = range(yOf, [height - MARGIN.bottom, MARGIN.top]);
      const positive = (scale_, v) => scale_(logarithmic ? Math.max(v, scale_.domain()[0]) : v);
      yAxis(root, y, `time in ${yName}`.replace('time in latency', 'latency').slice(0, 100), { width }, logarithmic ? timeTicks(y, true, height) : null);
      xAxis(root, x, `time in ${xName}`.slice(0, 100), { width, height }, timeTicks(x, logarithmic, width));
      marked = data.intervals.map((interval) => ({ interval, x: positive(x, xOf(interval)), y: positive(y, yOf(interval)),
        open: () => openInterval(interval.id),
        lines: () => [`#${interval.id}  ${time(interval.latency)}`, `${xName}: ${time(xOf(interval))}`,
          ...(yName === 'latency' ? [] : [`${yName}: ${time(yOf(interval))}`]), data.labels[interval.label]?.label ?? ''].filter(Boolean) }));
      for (const { interval, x: cx, y: cy } of marked) {
        root.append(svg('circle', { class: `dot ${labelClass(interval.label)}${interval.worst ? ' worst' : ''}${data.timelineOf.has(interval.id) ? ' whole' : ''}`,
          cx: cx.toFixed(1), cy: cy.toFixed(1), r: interval.worst ? 3 : 2 }));
      }
      marked.sort((a, b) => a.x - b.x || a.y - b.y);
      const r = correlation(data.intervals.filter((i) => i.sampled).map((i) => [xOf(i), yOf(i)]));
      const other = wanted() === shown() ? ''
        : `The page holds the times of the first factors only, and “${factorName(wanted())}” is none of them. This is “${factorName(shown())}”. `;
      note.textContent = other + (r === null ? '' : `Correlation ${r.toFixed(2)} over ${data.sampled} sampled intervals. `
        + 'Points along the diagonal: the latency comes from this factor. A cloud: the factor varies, but something else compensates.');
    });
  const visit = cursor(drawing, 'Intervals by time in the factor', () => marked);
  const box = select('Factor', 'scatter-factor', choices.map((factor) => [String(factor.index), `${factor.rank}. ${factorName(factor).slice(0, 90)}`]),
    String(shown().index), (value) => state.set({ factor: value }));
  const scales = choice('Scale', 'scatter-scale', [['linear', 'linear'], ['log', 'logarithmic']], scale,
    (value) => state.set({ scatter: value === 'linear' ? null : value }));
  state.listen((changed) => {
    if (!changed.has('factor') && !changed.has('scatter')) return;
    box.querySelector('select').value = String(shown().index);
    scale = state.one('scatter', SCALES, 'linear');
    scales.choose(scale);
    drawing.redraw();
    visit.reset();
  });
  return section('scatter', 'A factor against the latency', 'A point is an interval; a click opens it.',
    el('div', { class: 'controls' }, box, scales), labelLegend(data), drawing.holder, note);
}
