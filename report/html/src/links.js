// Links to what the page names: factors, places in the tree, single intervals. Each has an address of its own, so it
// can be opened in another tab, or sent to somebody.
import { el } from './dom.js';
import { time } from './format.js';
import { factorName } from './model.js';
import { state } from './state.js';

/** The page's own address with nothing but these values. */
function address(changes) {
  const given = Object.entries(changes).filter(([, value]) => value !== null);
  return `${window.location.pathname}${window.location.search}#${new URLSearchParams(given)}`;
}

/** A link that changes the view. Its address is that of the change alone. */
export function link(changes, attributes, ...children) {
  return el('a', { ...attributes, href: address(changes), onclick: (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    state.set(changes);
  } }, ...children);
}

export const factorLink = (factor, ...children) =>
  link({ factor: factor.index, at: 'factors' }, { class: 'name' }, children.length ? children : factorName(factor));

/** To the node in the tree, which shows it with what is around it. */
export const nodeLink = (data, node, ...children) =>
  link({ place: node, zoom: node === 0 ? 0 : data.tree.parent[node], at: 'tree' }, { class: 'name' }, children.length ? children : data.tree.nameOf(node));

/** All steps from the root, each a link. */
export const pathLinks = (data, node) =>
  data.tree.pathTo(node).map((step, i) => [i ? ' › ' : null, nodeLink(data, step)]);

export function intervalLink(data, id, ...children) {
  const about = data.timelineOf.has(id) ? 'its timeline' : 'what is known about it';
  return link({ interval: id, from: null, to: null, at: 'timelines' }, { class: 'id', title: about }, children.length ? children : `#${id}`);
}

export const openInterval = (id) => state.set({ interval: id, from: null, to: null, at: 'timelines' });

/** A function that something names without saying which place: its factor, or a search. */
export function nameLink(data, name) {
  const factor = data.factors.find((one) => one.functions.join(' and ') === name);
  return factor ? factorLink(factor, name) : link({ q: name, at: 'tree' }, { class: 'name' }, name);
}

/** An interval in a list: its id, with the factor's time in it. */
export const exemplarLink = (data, one) => [intervalLink(data, one.id),
  ` ${one.key && one.key !== '0' ? `key ${one.key}, ` : ''}${time(one.ns)} of ${time(one.latency)}`];
