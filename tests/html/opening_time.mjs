// How long the page of a large server takes from opening its file until it can be used: in the
// document, drawn, and ready for the next click. Prints the median and the range.
//   node opening_time.mjs FIXTURE BROWSER DIRECTORY [TIMES]
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './browser.mjs';
import { Pages } from './pages.mjs';

const [fixture, program, scratch, times = '9'] = process.argv.slice(2);
const directory = join(scratch, 'pages');
mkdirSync(directory, { recursive: true });
execFileSync(fixture, [directory], { stdio: 'inherit' });
const browser = await launch(program);
const pages = new Pages(browser, directory);
for (const name of ['bare.html', 'wide.html']) {
  const taken = [];
  for (let i = 0; i < Number(times); ++i) {
    const page = await pages.open(name);
    // Two frames later, all that was to be drawn is on the screen.
    taken.push(await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))'));
    await pages.close();
  }
  taken.sort((a, b) => a - b);
  const size = (statSync(join(directory, name)).size / 1e6).toFixed(1);
  console.log(`${name} (${size} MB): median ${taken[Math.floor(taken.length / 2)].toFixed(0)} ms, ${taken[0].toFixed(0)} to ${taken.at(-1).toFixed(0)} ms, of ${taken.length}`);
}
await browser.close();
