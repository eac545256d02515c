// Opens the pages of the fixture in a browser: every view is there, clicks and keys work, names from
// sources and traces never become markup, and there is no console error and no request.
//   node page_test.mjs FIXTURE BROWSER DIRECTORY
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, media, open as openUrl, until } from './browser.mjs';

const [fixture, program, scratch] = process.argv.slice(2);
const directory = join(scratch, 'pages');
mkdirSync(directory, { recursive: true });
execFileSync(fixture, [directory], { stdio: 'inherit' });
const browser = await launch(program);
const opened = [];

async function open(name, options) {
  const page = await openUrl(browser, pathToFileURL(join(directory, name)).href, options);
  opened.push(page);
  await until(page, 'document.documentElement?.dataset.ready');
  await until(page, 'document.querySelectorAll("#tree-chart .node").length > 0');
  return page;
}

/** The page reported no error, made no request, and let no name become markup. */
async function quiet(page) {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:')), []);
  assert.equal(await page.evaluate('window.hacked'), undefined, 'a name became markup');
  assert.equal(await page.evaluate('document.querySelectorAll("img, iframe, object, b, i").length'), 0, 'a name became an element');
}

const texts = (selector) => `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.textContent)`;

const tests = {
  async 'every view renders'() {
    const page = await open('whole.html');
    const sections = await page.evaluate('[...document.querySelectorAll("section")].map((s) => s.id)');
    assert.deepEqual(sections, ['summary', 'factors', 'tree', 'histogram', 'scatter', 'overtime', 'timelines', 'sources', 'iterations', 'caveats']);
    const counts = await page.evaluate(`({
      figures: document.querySelectorAll('.figure').length, labels: document.querySelectorAll('#labels tbody tr').length,
      factors: document.querySelectorAll('#factor-table tbody tr').length, nodes: document.querySelectorAll('#tree-chart .node').length,
      bars: document.querySelectorAll('#histogram-chart .bar').length, marks: document.querySelectorAll('#histogram-chart .mark').length,
      dots: document.querySelectorAll('#scatter-chart .dot').length, over: document.querySelectorAll('#overtime-chart .dot').length,
      line: document.querySelector('.mean-line').getAttribute('d').length, critical: document.querySelectorAll('.critical').length,
      lanes: document.querySelectorAll('.lane').length, wakes: document.querySelectorAll('.wake').length, waits: document.querySelectorAll('.waiting').length,
      iterations: document.querySelectorAll('#iterations tbody tr').length, lines: document.querySelectorAll('#sources .line').length,
      caveats: document.querySelectorAll('.caveats li').length, unwrapped: document.querySelectorAll('#unwrapped tr').length,
      pairs: document.querySelectorAll('.pairs tbody tr').length })`);
    assert.equal(counts.figures, 8);
    assert.equal(counts.labels, 3);
    assert.ok(counts.factors >= 4, `${counts.factors} factors`);
    assert.ok(counts.nodes >= 5, `${counts.nodes} nodes`);
    assert.ok(counts.bars > 20 && counts.marks === 4, JSON.stringify(counts));
    assert.ok(counts.dots >= 2000 && counts.dots <= 2050, `${counts.dots} dots`);
    assert.equal(counts.over, counts.dots);
    assert.ok(counts.line > 100, 'there is a line of means');
    assert.equal(counts.lanes, 2);
    assert.ok(counts.critical > 5 && counts.wakes >= 2 && counts.waits >= 1, JSON.stringify(counts));
    assert.equal(counts.iterations, 3);
    assert.equal(counts.lines, 5);
    assert.ok(counts.caveats >= 5, `${counts.caveats} caveats`);
    assert.equal(counts.unwrapped, 1);
    assert.match(await page.evaluate('document.querySelector("#loop-queue").textContent'),
      /^queue\(event loop\): before their begin, 500 of 2,000 waited .* would add 25\.0 % to it\.$/);
    assert.equal(await page.evaluate('document.querySelectorAll("svg [width^=\\"-\\"], svg [d*=NaN], svg [x=NaN], svg [cx=NaN], svg [y=NaN]").length'), 0);
    await quiet(page);
  },

  async 'hostile names appear as plain text'() {
    const page = await open('whole.html');
    assert.match(await page.evaluate('document.querySelector("#summary h2").textContent'), /<img src=x onerror="window.hacked=1">/);
    const names = (await page.evaluate(texts('#factor-table tbody th'))).join('\n');
    assert.ok(names.includes('</script><script>window.hacked=1</script>') || names.includes('<!--<script>'), names);
    const all = await page.evaluate('document.body.textContent');
    assert.ok(!/[\u2028\u2029\u202e]/.test(all.slice(0, all.indexOf('{"bins"'))), 'characters that reverse text appear as codes');
    assert.ok(await page.evaluate('document.title.includes("<img")'));
    await quiet(page);
  },

  async 'the factor table sorts, ranks and filters'() {
    const page = await open('whole.html');
    const column = (n) => page.evaluate(`[...document.querySelectorAll('#factor-table tbody tr')].map((r) => r.cells[${n}].textContent)`);
    const numbers = async (n) => (await column(n)).map((text) => parseFloat(text.replace(/,/g, '')));
    const isSorted = (list, falling) => list.every((value, i) => i === 0 || (falling ? list[i - 1] >= value : list[i - 1] <= value));
    const height = '#factor-table th[data-column=height] button';
    await page.click(height);
    assert.ok(isSorted(await numbers(5), true), 'heights fall');
    assert.equal(await page.evaluate('document.querySelector("th[data-column=height]").getAttribute("aria-sort")'), 'descending');
    await page.click(height);
    assert.ok(isSorted(await numbers(5), false), 'heights rise');
    assert.notDeepEqual(new Set(await numbers(5)).size, 1);
    await page.click('#factor-table th[data-column=name] button');
    assert.ok(isSorted(await page.evaluate(`[...document.querySelectorAll('#factor-table tbody tr')].map((r) => r.querySelector('th button').textContent.toLowerCase())`), false));
    await page.click('label[for=ranking-share]');
    assert.ok(isSorted(await numbers(3), true), 'ranked by share');
    assert.deepEqual(await numbers(0), (await numbers(0)).map((_, i) => i + 1));
    await page.click('label[for=ranking-score]');
    const quadratic = await numbers(6);
    await page.click('label[for=specificity-linear]');
    const linear = await numbers(6);
    assert.ok(isSorted(linear, true), 'ranked by linear score');
    await page.click('label[for=specificity-cubic]');
    const cubic = await numbers(6);
    assert.ok(cubic[0] > quadratic[0] && quadratic[0] > linear[0], `${cubic[0]} > ${quadratic[0]} > ${linear[0]}`);
    const all = (await column(0)).length;
    await page.click('label[for=kinds-covariance]');
    const pairs = await page.evaluate(texts('#factor-table tbody th'));
    assert.ok(pairs.length > 0 && pairs.length < all && pairs.every((name) => name.includes(' with ')));
    await quiet(page);
  },

  async 'the page computes the scores of the analysis'() {
    const page = await open('whole.html');
    const [shown, known] = await page.evaluate(`[[...document.querySelectorAll('#factor-table tbody tr')].map((r) => [Number(r.dataset.factor), parseFloat(r.cells[6].textContent)]),
      JSON.parse(document.getElementById('data').textContent).factors.map((f) => f.score)]`);
    assert.equal(shown.length, known.length);
    shown.forEach(([factor, score], i) => {
      assert.equal(factor, i, 'in the order of the analysis');
      assert.ok(Math.abs(score - known[factor]) <= 0.006 * Math.abs(known[factor]) + 0.5 * (known[factor] >= 100), `${score} for ${known[factor]}`);
    });
  },

  async 'selecting a factor updates every view'() {
    const page = await open('whole.html');
    const second = await page.evaluate('document.querySelectorAll("#factor-table tbody tr")[1].dataset.factor');
    const before = await page.evaluate('document.querySelector("#scatter-chart .dot").getAttribute("cx")');
    await page.click('#factor-table tbody tr:nth-child(2) th button');
    assert.equal(await page.evaluate('document.querySelector("#factor-table tr.chosen").dataset.factor'), second);
    assert.equal(await page.evaluate('document.getElementById("scatter-factor").value'), second);
    assert.notEqual(await page.evaluate('document.querySelector("#scatter-chart .dot").getAttribute("cx")'), before);
    assert.deepEqual(await page.evaluate('[...document.querySelectorAll("#sources details")].map((d) => d.open)'), [false, true]);
    assert.equal(await page.evaluate('document.querySelector("#factor-details h3").textContent.length > 0'), true);
    assert.equal(await page.evaluate('document.querySelectorAll("#tree-chart .node.chosen").length'), 1);
    await page.click('label[for=scatter-scale-log]');
    await page.click('label[for=overtime-scale-linear]');
    await page.click('label[for=histogram-height-sqrt]');
    await page.evaluate(`(() => { const s = document.getElementById('histogram-label'); s.value = '1'; s.dispatchEvent(new Event('change')); })()`);
    assert.equal(await page.evaluate('document.querySelectorAll("#histogram-chart .mark").length'), 3);
    await quiet(page);
  },

  async 'the tree is walked and zoomed by keyboard and pointer'() {
    const page = await open('whole.html');
    const focused = () => page.evaluate('document.activeElement.dataset?.node');
    const crumbs = () => page.evaluate('document.querySelectorAll(".crumbs > *").length');
    await page.evaluate('document.querySelector("#tree-chart .node[tabindex=\\"0\\"]").focus()');
    await page.keyboard.press('Home');
    assert.equal(await focused(), '0');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), '1');
    await page.keyboard.press('ArrowDown');
    const child = await focused();
    assert.equal(child, '2');
    await page.keyboard.press('ArrowRight');
    assert.ok(Number(await focused()) > 2);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), child);
    assert.equal(await crumbs(), 1);
    await page.keyboard.press('Enter');
    assert.equal(await crumbs(), 3);
    assert.equal(await focused(), child);
    assert.equal(await page.evaluate('document.querySelector("#tree-chart .node").dataset.node'), child, 'the zoomed node is on top');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.equal(await crumbs(), 1);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), '0');
    assert.ok((await page.evaluate('document.getElementById("tree-details").textContent')).length > 50);
    await page.click('#tree-chart .node[aria-level="2"]');
    assert.equal(await crumbs(), 2);
    await page.click('.crumbs button');
    assert.equal(await crumbs(), 1);
    const widths = () => page.evaluate('[...document.querySelectorAll("#tree-chart rect")].map((r) => r.getAttribute("width")).join()');
    const share = await widths();
    await page.click('label[for=tree-measure-mean]');
    assert.notEqual(await widths(), share);
    await quiet(page);
  },

  async 'everything can be reached with the Tab key'() {
    const page = await open('whole.html');
    const reached = new Set();
    for (let i = 0; i < 140; ++i) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(`(() => { const e = document.activeElement; return e.closest('section')?.id ?? e.id ?? e.tagName; })()`));
    }
    for (const place of ['theme', 'factors', 'tree', 'histogram', 'scatter', 'overtime', 'timelines', 'sources']) {
      assert.ok(reached.has(place), `${place} is not in ${[...reached]}`);
    }
  },

  async 'timelines change, and go from thread to thread'() {
    const page = await open('whole.html');
    const title = () => page.evaluate('document.querySelector(".timeline-title strong").textContent');
    const first = await title();
    await page.click('label[for=exemplar-1]');
    assert.notEqual(await title(), first);
    await until(page, 'document.querySelectorAll("#timeline-chart .critical").length > 0');
    // The wait is on the request's thread, its blame on the other one.
    const data = await page.evaluate('JSON.parse(document.getElementById("data").textContent).timelines[0]');
    const names = data.pieces.map(([, , thread, place]) => [data.threads[thread].name, data.names[data.places[place].at(-1)][0]]);
    assert.ok(names.some(([thread]) => thread === 'flusher'));
    const wait = data.waits.find(([, , , name]) => name === 'wait(pthread_mutex_lock)');
    assert.equal(data.threads[wait[2]].name, '<b>worker</b>');
    await quiet(page);
  },

  async 'light, dark and paper'() {
    const page = await open('whole.html', { dark: true });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    assert.equal(await background(), 'rgb(22, 24, 27)');
    await media(page, 'light');
    assert.equal(await background(), 'rgb(251, 251, 250)');
    await page.click('#theme');
    await page.click('#theme');
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
    assert.equal(await background(), 'rgb(22, 24, 27)');
    await media(page, 'dark', 'print');
    assert.equal(await background(), 'rgb(255, 255, 255)', 'paper is white');
    assert.equal(await page.evaluate('getComputedStyle(document.querySelector("#theme")).display'), 'none');
    await media(page, 'light');
    assert.ok((await page.pdf({ printBackground: true, timeout: 0 })).length > 20_000);
    await quiet(page);
  },

  async 'contrast of text is enough in both themes'() {
    for (const dark of [false, true]) {
      const page = await open('whole.html', { dark });
      const worst = await page.evaluate(`(() => {
        const light = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map((v) => { const c = v / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
        const style = getComputedStyle(document.documentElement);
        const probe = document.body.appendChild(document.createElement('span'));
        const color = (name) => { probe.style.color = style.getPropertyValue(name); return getComputedStyle(probe).color; };
        const kinds = ['function', 'body', 'wait', 'blame', 'queue', 'preempted', 'untracked'].map((k) => ratio(color('--node-text'), color('--' + k)));
        const found = Math.min(...kinds, ratio(color('--text'), color('--card')), ratio(color('--faint'), color('--card')), ratio(color('--accent'), color('--chosen')), ratio(color('--path'), color('--path-text')));
        probe.remove();
        return found; })()`);
      assert.ok(worst >= 4.5, `contrast ${worst.toFixed(2)} ${dark ? 'dark' : 'light'}`);
    }
  },

  async 'narrow windows do not overflow'() {
    const page = await open('whole.html', { width: 480 });
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= 480'), 'the page scrolls sideways');
  },

  async 'a tree of 5,000 nodes draws only what is wide enough to see'() {
    const page = await open('large.html');
    const drawn = () => page.evaluate('document.querySelectorAll("#tree-chart .node").length');
    assert.ok(await page.evaluate('JSON.parse(document.getElementById("data").textContent).nodes.length >= 5000'));
    assert.ok(await drawn() > 70 && await drawn() < 3000, `${await drawn()} nodes`);
    await page.click('#tree-chart .node[aria-level="2"]');
    assert.equal(await page.evaluate('document.querySelectorAll(".crumbs > *").length'), 2);
    assert.ok(await drawn() > 30, 'zoomed in, the narrow ones are there');
    await quiet(page);
  },

  async 'a report without profile and recording says what is missing'() {
    const page = await open('bare.html');
    const sections = await page.evaluate('[...document.querySelectorAll("section")].map((s) => s.id)');
    assert.deepEqual(sections, ['summary', 'factors', 'tree', 'histogram', 'iterations', 'caveats'].filter((id) => sections.includes(id)));
    assert.ok((await page.evaluate('document.querySelector("#caveats").textContent')).includes('There is no profile.'));
    await quiet(page);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
  for (const page of opened.splice(0)) await page.close();
}
await browser.close();
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
