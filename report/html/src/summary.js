// Figures of the latency: of all intervals, and by label.
import { el, section } from './dom.js';
import { count, percent, time } from './format.js';

function figure(name, value, note) {
  return el('div', { class: 'figure' }, el('dt', {}, name), el('dd', {}, value, note ? el('small', {}, ` ${note}`) : null));
}

const between = ([low, high]) => (low === 0 && high === 0 ? '' : `${time(low)} … ${time(high)}`);

export function summary(data) {
  const { interval } = data;
  const figures = el('dl', { class: 'figures' },
    figure('completed', count(interval.count), interval.incomplete ? `${count(interval.incomplete)} incomplete` : ''),
    figure('mean', time(interval.mean_ns), between(interval.mean_ci95)),
    figure('std. deviation', time(interval.stddev_ns)),
    figure('p50', time(interval.p50_ns)),
    figure('p95', time(interval.p95_ns)),
    figure('p99', time(interval.p99_ns), between(interval.p99_ci95)),
    figure('p99.9', time(interval.p999_ns)),
    figure('max', time(interval.max_ns)));
  const work = interval.work?.declared > 0 ? el('p', { class: 'hint' }, `Work: ${interval.work.mean.toPrecision(3)} units on average, `
    + `${time(interval.work.ns_per_unit)} each; explains ${percent(interval.work.explained)} of the variance.`) : null;
  return section('summary', `Latency of ${interval.name}`, null, figures, kindsOfTime(data.kinds), work, loopQueue(interval.loop_queue), byLabel(data));
}

// What of the variance is computing, and what is waiting for what.
function kindsOfTime(kinds) {
  const shown = kinds.filter(({ share }) => Math.abs(share) >= 0.001);
  if (shown.length === 0) return null;
  return el('p', { class: 'hint', id: 'kinds' }, `Of the variance: ${shown.map(({ kind, share, share_ci95: [low, high] }) => `${kind === 'io' ? 'I/O' : kind} `
    + `${percent(share)}${high > low ? ` ± ${(50 * (high - low)).toFixed(1)}` : ''}`).join(', ')}.`);
}

// What intervals waited before their begin because the event loop was busy with others.
function loopQueue(queue) {
  if (!queue?.waited) return null;
  return el('p', { class: 'hint', id: 'loop-queue' }, `queue(event loop): before their begin, at least ${count(queue.waited)} of ${count(queue.begun)} `
    + `waited for the loop, which was busy with others: on average over all ${time(queue.mean_ns)}, p99 ${time(queue.p99_ns)}; `
    + `not in the latency, would add ${percent(queue.share)} to it.`);
}

function byLabel(data) {
  if (data.labels.length < 2) return null;
  const head = ['label', 'count', 'mean', 'std. deviation', 'p50', 'p95', 'p99'];
  return [
    el('p', { class: 'hint' }, `${percent(data.interval.between_labels)} of the variance is between labels: their means differ. `
      + 'Percentiles by label are accurate to 3 %.'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of labels' }, el('table', { class: 'plain', id: 'labels' },
      el('thead', {}, el('tr', {}, head.map((name, i) => el('th', { scope: 'col', class: i ? 'number' : '' }, name)))),
      el('tbody', {}, data.labels.slice(0, 100).map((label) => el('tr', {},
        el('th', { scope: 'row' }, label.label || '(none)'),
        [count(label.count), time(label.mean_ns), time(label.stddev_ns), ...[label.p50_ns, label.p95_ns, label.p99_ns]
          .map((ns) => (ns > 0 ? time(ns) : '–'))].map((text) => el('td', { class: 'number' }, text)))))),
    data.labels.length > 100 ? el('p', { class: 'hint' }, `${count(data.labels.length - 100)} more labels`) : null),
  ];
}
