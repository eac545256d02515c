// The page's data, with what several views derive from it.

export function load() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const { nodes } = data;
  nodes.forEach((node, index) => {
    node.index = index;
    node.children = [];
    if (index > 0) nodes[node.parent].children.push(node);
  });
  data.factors.forEach((factor, index) => { factor.index = index; });
  data.intervals = data.intervals.map(([id, begin, latency, label, times, worst, run, sampled]) =>
    ({ id, begin, latency, label, times, worst, run, sampled }));
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

/** What a ranking counts, before specificity. */
export const weight = (factor, ranking) => (ranking === 'variance' ? summedVariance(factor) : factor.weight);

/** Time of a factor's function in an interval, ns. */
export const timeIn = (interval, column) => interval.times[column] ?? 0;

export function path(data, node) {
  const names = [];
  for (let n = node; ; n = data.nodes[n.parent]) {
    names.unshift(n.name);
    if (n.index === 0) return names;
  }
}

const listeners = [];
/** The factor that all views show; index into data.factors. */
export const selection = {
  factor: 0,
  choose(index, source) {
    this.factor = index;
    for (const listener of listeners) listener(index, source);
  },
  listen(listener) { listeners.push(listener); },
};
