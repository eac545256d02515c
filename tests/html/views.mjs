// Every view renders, names never become markup, and what is missing is said.
import assert from 'node:assert/strict';
import { count, quiet, texts, textOf } from './pages.mjs';

const SECTIONS = ['summary', 'factors', 'flame', 'tree', 'histogram', 'scatter', 'overtime', 'timelines', 'sources', 'iterations', 'caveats', 'provenance'];

export const views = {
  async 'every view renders'(pages) {
    const page = await pages.open('whole.html');
    assert.deepEqual(await page.evaluate('[...document.querySelectorAll("section")].map((s) => s.id)'), SECTIONS);
    const counts = await page.evaluate(`({
      figures: document.querySelectorAll('.figure').length, labels: document.querySelectorAll('#labels tbody tr').length,
      factors: document.querySelectorAll('#factor-table tbody tr').length, nodes: document.querySelectorAll('#tree-chart .node').length,
      left: document.querySelectorAll('#flame-variance .node').length, right: document.querySelectorAll('#flame-mean .node').length,
      bars: document.querySelectorAll('#histogram-chart .bar').length, marks: document.querySelectorAll('#histogram-chart .mark').length,
      dots: document.querySelectorAll('#scatter-chart .dot').length, over: document.querySelectorAll('#overtime-chart .dot').length,
      line: document.querySelector('.mean-line').getAttribute('d').length, critical: document.querySelectorAll('.critical').length,
      lanes: document.querySelectorAll('.lane').length, wakes: document.querySelectorAll('.wake').length, waits: document.querySelectorAll('.waiting').length,
      iterations: document.querySelectorAll('#iterations tbody tr').length, lines: document.querySelectorAll('#sources .line').length,
      caveats: document.querySelectorAll('.caveats li').length, unwrapped: document.querySelectorAll('#unwrapped tr').length })`);
    assert.equal(counts.figures, 8);
    assert.match(await page.evaluate('document.querySelector("#loop-queue").textContent'),
      /^queue\(event loop\): before their begin, at least 500 of 2,000 waited .* would add 25\.0 % to it\.$/);
    assert.match(await page.evaluate('document.querySelector("#kinds").textContent'),
      /^Of the variance: synchronization \d+\.\d %.*, running \d+\.\d %/);
    assert.equal(counts.labels, 3);
    assert.ok(counts.factors >= 4, `${counts.factors} factors`);
    assert.ok(counts.nodes >= 5 && counts.left >= 5 && counts.right >= 5, JSON.stringify(counts));
    assert.ok(counts.bars > 20 && counts.marks === 4, JSON.stringify(counts));
    assert.ok(counts.dots >= 2000 && counts.dots <= 2050, `${counts.dots} dots`);
    assert.equal(counts.over, counts.dots);
    assert.ok(counts.line > 100, 'there is a line of means');
    assert.equal(counts.lanes, 2);
    assert.ok(counts.critical > 5 && counts.wakes >= 2 && counts.waits >= 1, JSON.stringify(counts));
    assert.equal(counts.iterations, 3);
    assert.equal(counts.lines, 120 + 1 + 2);
    assert.ok(counts.caveats >= 5, `${counts.caveats} caveats`);
    assert.equal(counts.unwrapped, 1);
    assert.equal(await count(page, 'svg [width^="-"], svg [d*=NaN], svg [x=NaN], svg [cx=NaN], svg [y=NaN]'), 0);
    await quiet(page);
  },

  async 'hostile names appear as plain text'(pages) {
    const page = await pages.open('whole.html');
    assert.match(await textOf(page, '#summary h2'), /<img src=x onerror="window.hacked=1">/);
    const names = (await texts(page, '#factor-table tbody th')).join('\n');
    assert.ok(names.includes('</script><script>window.hacked=1</script>') || names.includes('<!--<script>'), names);
    const all = await page.evaluate('document.body.textContent');
    assert.ok(!/[\u2028\u2029\u202e]/.test(all.slice(0, all.indexOf('{"bins"'))), 'characters that reverse text appear as codes');
    assert.ok(await page.evaluate('document.title.includes("<img")'));
    await quiet(page);
  },

  async 'the page says where, when and how it was recorded'(pages) {
    const page = await pages.open('whole.html');
    const text = await textOf(page, '#provenance');
    for (const word of ['24 Nov 2026', '2026-11-24T10:00:00Z', '<img src=x', 'Linux 6.1.0', '2 × a processor', 'gcc 12.2.0', 'v1.2-3-gabcdef0-dirty',
      'abcdef0123456789', '</script>', '"run": "x"', '0.1.0']) {
      assert.ok(text.includes(word), `${word} is not in ${text}`);
    }
    assert.match(await textOf(page, '.made'), /2026-11-24 · .* · v1\.2/);
    await quiet(page);
  },

  async 'a report without profile and recording says what is missing'(pages) {
    const page = await pages.open('bare.html');
    const sections = await page.evaluate('[...document.querySelectorAll("section")].map((s) => s.id)');
    assert.deepEqual(sections, SECTIONS.filter((id) => !['scatter', 'overtime', 'timelines', 'sources'].includes(id)));
    assert.ok((await textOf(page, '#caveats')).includes('There is no profile.'));
    await quiet(page);
  },
};
