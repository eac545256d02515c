// What led to this report and what limits it: iterations, caveats.
import { el, section } from './dom.js';
import { count, percent, time } from './format.js';
import { factorLink, nameLink } from './links.js';
import { factorName } from './model.js';

const names = (data, list) => list.map((name, i) => [i ? ', ' : null, nameLink(data, name)]);

function decisions(data, one) {
  const taken = [['accepted', one.selected], ['set aside', one.set_aside]].filter(([, list]) => list?.length);
  return taken.map(([what, list]) => el('small', {}, ` ${what}: `, names(data, list)));
}

export function iterations(data) {
  if (data.iterations.length === 0) return null;
  const most = Math.max(...data.iterations.map((one) => Math.sqrt(one.variance_ns2)), 1);
  return section('iterations', 'Iterations', 'Each iteration breaks down what the ones before it found.',
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of iterations' }, el('table', { class: 'plain' },
      el('thead', {}, el('tr', {}, [['#', 1], ['expanded', 0], ['sites', 1], ['mean', 1], ['std. deviation', 1], ['mean vs. no recording', 1], ['build', 1], ['run', 1]]
        .map(([name, number]) => el('th', { scope: 'col', class: number ? 'number' : '' }, name)))),
      el('tbody', {}, data.iterations.map((one, i) => el('tr', {},
        el('td', { class: 'number' }, i + 1), el('td', { class: 'path' }, one.expanded.length > 0 ? names(data, one.expanded) : '–', decisions(data, one)),
        el('td', { class: 'number' }, count(one.sites)), el('td', { class: 'number' }, time(one.mean_ns)),
        el('td', { class: 'number part' }, el('span', { class: 'part-bar variance', style: `width:${((100 * Math.sqrt(one.variance_ns2)) / most).toFixed(1)}%` }),
          el('span', {}, time(Math.sqrt(one.variance_ns2)))),
        el('td', { class: 'number' }, one.mean_ratio > 0 ? `${one.mean_ratio.toFixed(2)}x` : '–'),
        el('td', { class: 'number' }, `${one.build_s.toFixed(1)} s`), el('td', { class: 'number' }, `${one.run_s.toFixed(1)} s`)))))));
}

// What an earlier iteration was certain of, if this one is certain of nothing.
function earlierAnswer(data) {
  if (data.factors.some((factor) => factor.marked)) return [];
  const marked = data.iterations.slice(0, -1).map((one) => one.leading?.find((factor) => factor.marked));
  const at = marked.findLastIndex(Boolean);
  if (at < 0) return [];
  const { factor, share, contribution } = marked[at];
  return [`Iteration ${at + 1} marked ${factor}, ${percent(share ?? contribution)}, and this one marks nothing: what they measured differs.`];
}

export function caveats(data) {
  const { losses, overhead } = data;
  const notes = [...earlierAnswer(data), ...data.notes];
  if (data.interval.incomplete) {
    notes.push(`${count(data.interval.incomplete)} intervals are incomplete: they began but did not end, or ended without a begin, while the program was recorded.`);
  }
  if (losses.dropped) notes.push(`${count(losses.dropped)} records were dropped because the buffers were full.`);
  if (losses.torn) notes.push(`${count(losses.torn)} records were cut off by the end of the program.`);
  if (losses.unreadable_bytes) notes.push(`${count(losses.unreadable_bytes)} bytes of the trace are unreadable.`);
  const waits = losses.exact_edges + losses.inferred_edges + losses.outside_waits + losses.unmatched_waits;
  if (losses.inferred_edges) {
    notes.push(`The waker of ${count(losses.inferred_edges)} of ${count(waits)} waits is inferred: the nearest release, not one that names the wait.`);
  }
  if (losses.outside_waits) notes.push(`${count(losses.outside_waits)} of ${count(waits)} waits were for a disk, a clock or a peer that was not recorded.`);
  if (losses.unmatched_waits) notes.push(`The waker of ${count(losses.unmatched_waits)} of ${count(waits)} waits is unknown; they stay waits.`);
  const unknown = data.factors.filter((factor) => factor.functions.some((name) => /^untracked|^unknown/.test(name)));
  for (const factor of unknown.slice(0, 3)) {
    notes.push([`${percent(factor.share)} of the variance is in `, factorLink(factor, factorName(factor)), ': time that no measured function covers.']);
  }
  return section('caveats', 'Caveats', null,
    el('ul', { class: 'caveats' }, notes.map((note) => el('li', {}, note)), overhead.map((line) => el('li', {}, line))),
    data.unwrapped.length ? [el('h3', {}, 'Calls that are not measured'),
      el('table', { class: 'plain', id: 'unwrapped' }, el('tbody', {}, data.unwrapped.map((one) => el('tr', {},
        el('td', { class: 'number' }, count(one.count)), el('td', {}, one.reason)))))] : null);
}
