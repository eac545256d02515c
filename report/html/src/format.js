// Numbers for people.
const UNITS = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];

export function time(ns) {
  if (!Number.isFinite(ns)) return '–';
  if (ns === 0) return '0';
  const [unit, scale] = UNITS.find(([, size]) => Math.abs(ns) >= size) ?? UNITS[3];
  const value = ns / scale;
  return `${Math.abs(value) >= 100 || unit === 'ns' ? Math.round(value) : value.toPrecision(3)} ${unit}`;
}

export const count = (n) => n.toLocaleString('en-US');
/** `?` if it is not known. */
export const percent = (part, digits = 1) => (part === null || part === undefined) ? '?' : `${(100 * part).toFixed(digits)} %`;
/** A 95 % confidence interval: `± 3.2`, or both ends if the sides differ. */
export function margin([low, high], value) {
  if (low === 0 && high === 0) return '';
  const below = value - low;
  const above = high - value;
  if (Math.abs(below - above) <= Math.max(0.1 * Math.max(below, above), 0.0005)) return `± ${(50 * (below + above)).toFixed(1)}`;
  return `${(100 * low).toFixed(1)} … ${(100 * high).toFixed(1)}`;
}
export const score = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));
