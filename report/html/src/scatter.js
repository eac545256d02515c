// A factor's time against the latency; for a covariance, the times of its two functions against each other.
import { max, min } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { MARGIN, chart, labelClass, labelLegend, timeTicks, xAxis, yAxis } from './charts.js';
import { choice, el, section, select, svg, tooltip } from './dom.js';
import { time } from './format.js';
import { factorName, selection, timeIn } from './model.js';

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
  let scale = 'linear';
  const note = el('p', { class: 'hint', id: 'scatter-note', 'aria-live': 'polite' });
  const axes = () => {
    const factor = data.factors[selection.factor];
    const [a, b] = factor.columns;
    return {
      xName: factor.functions[0], yName: factor.kind === 'covariance' ? factor.functions[1] : 'latency',
      x: (interval) => timeIn(interval, a),
      y: factor.kind === 'covariance' ? (interval) => timeIn(interval, b) : (interval) => interval.latency,
    };
  };
  const drawing = chart('scatter-chart', 340, () => `Time of ${factorName(data.factors[selection.factor])} against latency`,
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
      const positive = (scale_, v) => scale_(logarithmic ? Math.max(v, scale_.domain()[0]) : v).toFixed(1);
      yAxis(root, y, `time in ${yName}`.replace('time in latency', 'latency').slice(0, 100), { width }, logarithmic ? timeTicks(y, true, height) : null);
      xAxis(root, x, `time in ${xName}`.slice(0, 100), { width, height }, timeTicks(x, logarithmic, width));
      for (const interval of data.intervals) {
        const dot = svg('circle', { class: `dot ${labelClass(interval.label)}${interval.worst ? ' worst' : ''}`,
          cx: positive(x, xOf(interval)), cy: positive(y, yOf(interval)), r: interval.worst ? 3 : 2 });
        root.append(tooltip(dot, () => [`#${interval.id}  ${time(interval.latency)}`, `${xName}: ${time(xOf(interval))}`,
          ...(yName === 'latency' ? [] : [`${yName}: ${time(yOf(interval))}`]), data.labels[interval.label]?.label ?? '']));
      }
      const r = correlation(data.intervals.filter((i) => i.sampled).map((i) => [xOf(i), yOf(i)]));
      note.textContent = r === null ? '' : `Correlation ${r.toFixed(2)} over ${data.sampled} sampled intervals. `
        + 'Points along the diagonal: the latency comes from this factor. A cloud: the factor varies, but something else compensates.';
    });
  const box = select('Factor', 'scatter-factor', data.factors.map((factor, i) => [String(i), `${factor.rank}. ${factorName(factor).slice(0, 90)}`]),
    '0', (value) => selection.choose(Number(value), 'scatter'));
  selection.listen((index) => {
    box.querySelector('select').value = String(index);
    drawing.redraw();
  });
  return section('scatter', 'A factor against the latency', null,
    el('div', { class: 'controls' }, box, choice('Scale', 'scatter-scale', [['linear', 'linear'], ['log', 'logarithmic']], scale,
      (value) => { scale = value; drawing.redraw(); })),
    labelLegend(data), drawing.holder, note);
}
