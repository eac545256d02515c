// Opens the pages of the fixture in a browser: every view is there, clicks and keys work, names from
// sources and traces never become markup, and there is no console error and no request.
//   node page_test.mjs FIXTURE BROWSER DIRECTORY [WORD: only tests whose names have it]
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { accessibility } from './accessibility.mjs';
import { launch } from './browser.mjs';
import { factors } from './factors.mjs';
import { intervals } from './intervals.mjs';
import { Pages } from './pages.mjs';
import { sources } from './sources.mjs';
import { trees } from './trees.mjs';
import { views } from './views.mjs';

const [fixture, program, scratch, word = ''] = process.argv.slice(2);
const directory = join(scratch, 'pages');
mkdirSync(directory, { recursive: true });
execFileSync(fixture, [directory], { stdio: 'inherit' });
const pages = new Pages(await launch(program), directory);
const tests = Object.entries({ ...views, ...factors, ...trees, ...intervals, ...sources, ...accessibility }).filter(([name]) => name.includes(word));

let failed = 0;
for (const [name, test] of tests) {
  try {
    await test(pages);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
  await pages.close();
}
await pages.browser.close();
console.log(`${tests.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 && tests.length > 0 ? 0 : 1);
