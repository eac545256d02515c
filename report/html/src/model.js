// The page's data, with what several views derive from it.

export const KINDS = {
  function: 'function', body: 'own time', wait: 'wait', blame: 'what another thread did meanwhile', queue: 'queue',
  preempted: 'preempted', untracked: 'untracked', parked: 'parked',
};
const WAITING = new Set(['wait', 'queue', 'parked', 'preempted']);
export const NATURES = ['work', 'wait', 'blame', 'other'];

/** The variance tree. Nodes are numbers, in pre-order: those below `i` are i + 1 to end[i] - 1. A list per field,
 * since a large program has 100,000 nodes. */
class Tree {
  constructor(data) {
    Object.assign(this, data.nodes);
    this.size = this.parent.length;
    this.variance = data.interval.variance_ns2;
    this.end = new Uint32Array(this.size);
    this.nature = new Uint8Array(this.size);
    for (let i = this.size - 1; i >= 0; --i) {
      if (this.end[i] === 0) this.end[i] = i + 1;
      const up = this.parent[i];
      if (i > 0 && this.end[up] < this.end[i]) this.end[up] = this.end[i];
    }
    for (let i = 0; i < this.size; ++i) this.nature[i] = NATURES.indexOf(this.natureOf(i));
    this.pairsOf = new Map(this.pairs.map(([node, pairs, more]) => [node, { pairs, more }]));
  }

  /** Work, waiting, what a wait is blamed on with all below it, or neither. */
  natureOf(i) {
    const kind = this.kindOf(i);
    if (WAITING.has(kind)) return 'wait';
    if (kind === 'untracked') return 'other';
    if (kind === 'blame') return 'blame';
    return i === 0 ? 'work' : NATURES[this.nature[this.parent[i]]];
  }

  nameOf(i) { return this.texts[this.name[i]]; }
  kindOf(i) { return this.kinds[this.kind[i]]; }
  siteOf(i) { return this.texts[this.site[i]]; }
  definitionOf(i) { return this.texts[this.definition[i]]; }
  contributionOf(i) { return this.variance > 0 ? this.deviation[i] ** 2 / this.variance : 0; }
  isWithin(i, top) { return i >= top && i < this.end[top]; }

  childrenOf(i) {
    const all = [];
    for (let child = i + 1; child < this.end[i]; child = this.end[child]) all.push(child);
    return all;
  }

  /** From the root down to the node itself. */
  pathTo(i) {
    const all = [i];
    while (all[0] !== 0) all.unshift(this.parent[all[0]]);
    return all;
  }
}

/** [id, key, time, latency] as objects. Ids are text: they exceed what a number holds. */
const exemplars = (list) => list.map(([id, key, ns, latency]) => ({ id: String(id), key: String(key), ns, latency }));

export function load() {
  const data = JSON.parse(document.getElementById('data').textContent);
  data.tree = new Tree(data);
  data.factors.forEach((factor, index) => {
    factor.index = index;
    factor.worst = exemplars(factor.worst);
    factor.typical = exemplars(factor.typical);
  });
  data.intervals = data.intervals.map(([id, begin, latency, label, times, worst, run, sampled]) =>
    ({ id: String(id), begin, latency, label, times, worst, run, sampled }));
  data.timelines.forEach((one) => { one.id = String(one.id); });
  data.timelineOf = new Map(data.timelines.map((one) => [one.id, one]));
  data.intervalOf = new Map(data.intervals.map((one) => [one.id, one]));
  data.factorOfNode = new Map();
  for (const factor of data.factors) {
    if (factor.kind === 'variance') for (const node of factor.nodes) data.factorOfNode.set(node, factor);
  }
  return data;
}

export const factorName = (factor) => factor.functions.join('  with  ');

/** (H - h)^power: equation 2.3. A covariance has the height of the higher of its two functions. */
export const specificity = (data, factor, power) => Math.max(data.graph_height - factor.height, 0) ** power;

/** Σ Var of equation 2.4, as a part of the variance of the latency. */
const summedVariance = (factor) => (factor.specificity ? factor.variance_score / factor.specificity : 0);

export const RANKINGS = {
  score: (data, factor, power) => specificity(data, factor, power) * factor.weight,
  variance: (data, factor, power) => specificity(data, factor, power) * summedVariance(factor),
  contribution: (data, factor) => factor.contribution,
  share: (data, factor) => factor.share,
  tail_share: (data, factor) => factor.tail_share ?? 0,
};

/** Whether the page has the time of the factor's functions in each interval: of the first ones only. */
export const hasTimes = (factor) => factor.columns.every((column) => column >= 0);

/** Time of a factor's function in an interval, ns. */
export const timeIn = (interval, column) => interval.times[column] ?? 0;
