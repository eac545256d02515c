// What the page knows about one factor: figures, places, intervals in which it took long.
import { el } from './dom.js';
import { count, margin, percent, time } from './format.js';
import { exemplarLink, link, pathLinks } from './links.js';
import { factorName, hasTimes } from './model.js';
import { sourceOf } from './sources.js';

const MOST_PLACES = 8;

function place(data, factor, instance) {
  const isPair = factor.kind === 'covariance';
  const path = instance.node === undefined ? instance.path.join(' › ')
    : pathLinks(data, isPair ? data.tree.parent[instance.node] : instance.node);
  const site = instance.node === undefined ? instance.site : data.tree.siteOf(instance.node);
  return el('li', { class: instance.dominated ? 'dominated' : '' },
    el('strong', {}, percent(data.ranking === 'share' && !isPair ? instance.share : instance.contribution)), ' ',
    el('span', { class: 'path' }, path), site ? el('small', {}, ` at ${site}`) : null,
    instance.nested ? el('small', {}, ' within another place of the function') : null,
    instance.dominated ? el('small', {}, ' explained below it') : null);
}

function exemplarList(data, title, list) {
  return list.length === 0 ? null : [el('h4', {}, title), el('ul', { class: 'exemplars' }, list.map((one) => el('li', {}, exemplarLink(data, one))))];
}

/** Elsewhere in the page. */
function otherViews(data, factor) {
  const name = factor.functions[0];
  return el('p', { class: 'other-views' },
    factor.nodes.length > 0 ? link({ place: factor.nodes[0], zoom: 0, at: 'tree' }, {}, 'in the tree') : null,
    factor.nodes.length > 0 ? link({ place: factor.nodes[0], zoom: 0, at: 'flame' }, {}, 'in the flame graphs') : null,
    hasTimes(factor) && data.intervals.length > 0 ? link({ factor: factor.index, at: 'scatter' }, {}, 'against the latency') : null,
    link({ q: name, at: 'tree' }, {}, 'all places'));
}

export function describeFactor(data, factor) {
  const figures = [['share', percent(factor.share), factor.significant ? margin(factor.share_ci95, factor.share) : 'may be chance'],
    ['contribution', percent(factor.contribution), margin(factor.ci95, factor.contribution)],
    ['tail share', percent(factor.tail_share), ''], ['height', String(factor.height), '']];
  const shown = factor.instances.slice(0, MOST_PLACES);
  const more = factor.instances.length - shown.length + factor.more_instances;
  return [
    el('h3', {}, factorName(factor)),
    factor.definition ? el('p', { class: 'hint path' }, factor.definition) : null,
    el('dl', { class: 'facts' }, figures.map(([name, value, note]) => el('div', {}, el('dt', {}, name), el('dd', {}, value, note ? el('small', {}, note) : null)))),
    factor.kind === 'covariance'
      ? el('p', { class: 'hint' }, 'These two are slow (or fast) in the same intervals. Look for what both depend on.') : null,
    Math.abs(factor.work_share) >= 0.01 || Math.abs(factor.label_share) >= 0.01
      ? el('p', {}, `Declared work explains ${percent(factor.work_share)} of the variance here and the label ${percent(factor.label_share)}: `
        + 'the requests ask for that much.') : null,
    otherViews(data, factor),
    el('h4', {}, 'Where'),
    el('ol', { class: 'instances' }, shown.map((instance) => place(data, factor, instance))),
    more > 0 ? el('p', { class: 'hint' }, `${count(more)} more places`) : null,
    sourceOf(data, factor),
    exemplarList(data, 'Where it took longest', factor.worst),
    exemplarList(data, 'Typical', factor.typical)];
}
