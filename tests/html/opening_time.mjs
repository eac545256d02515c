// How long the page of a large server takes from opening its file until it can be used: drawn, and
// ready for the next click. Prints the median and the range of the time that passes, and of the
// processor time of the page's thread, which other work on the machine does not change much.
//   node opening_time.mjs FIXTURE BROWSER DIRECTORY [TIMES]
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, until } from './browser.mjs';

const [fixture, program, scratch, times = '9'] = process.argv.slice(2);
const directory = join(scratch, 'pages');
mkdirSync(directory, { recursive: true });
execFileSync(fixture, [directory], { stdio: 'inherit' });
const browser = await launch(program);

/** [ms that passed, ms of the page's thread] */
async function opening(name) {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  const devtools = await page.createCDPSession();
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(pathToFileURL(join(directory, name)).href);
  await until(page, 'document.documentElement?.dataset.ready');
  // Two frames later, all that was to be drawn is on the screen.
  const passed = await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))');
  const { metrics } = await devtools.send('Performance.getMetrics');
  await page.close();
  return [passed, 1000 * metrics.find((one) => one.name === 'TaskDuration').value];
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return `median ${sorted[Math.floor(sorted.length / 2)].toFixed(0)} ms (${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)})`;
}

for (const name of ['bare.html', 'large.html', 'wide.html']) {
  const taken = [];
  for (let i = 0; i < Number(times); ++i) taken.push(await opening(name));
  const size = (statSync(join(directory, name)).size / 1e6).toFixed(1);
  console.log(`${name} (${size} MB): ${summary(taken.map(([passed]) => passed))}, of which on its thread ${summary(taken.map(([, own]) => own))}`);
}
await browser.close();
