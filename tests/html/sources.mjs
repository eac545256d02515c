// Source with what calls cost: figures beside the lines, what is left out, text that has changed.
import assert from 'node:assert/strict';
import { count, hash, quiet, textOf, texts } from './pages.mjs';

/** The cells of each row of a source, with rows that lack figures. */
const rows = (page, source) => page.evaluate(`[...document.querySelectorAll('[data-source="${source}"] tbody tr')].map((r) => [r.className, ...[...r.cells].map((c) => c.textContent)])`);

export const sources = {
  async 'a call has its cost beside its line'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=0' });
    assert.deepEqual(await texts(page, '[data-source="0"] th'), ['calls', 'mean', 'std. dev.', 'share', 'line', 'source']);
    const all = await rows(page, 0);
    assert.deepEqual(all[0], ['line', '', '', '', '', '40', 'int f(void) {']);
    const [style, ...small] = all[1];
    assert.deepEqual([style, ...small.slice(0, 5)], ['line', '2.00', '1.00 ms', '200 µs', '0.1 %', '41']);
    assert.ok(small[5].startsWith('\treturn x < y && y > z;  // </script>') && small[5].endsWith('<!--<script>'), small[5]);
    const two = all.findIndex((row) => row[5] === '250');
    assert.deepEqual(all[two].slice(1, 5), ['', '', '', ''], 'a line of two calls has a row for each');
    assert.deepEqual(all[two + 1], ['call costly', '2.00', '1.00 ms', '200 µs', '50.0 %', '', 'flush<int>']);
    assert.deepEqual(all[two + 2], ['call costly', '2.00', '1.00 ms', '200 µs', '12.5 %', '', 'serve']);
    assert.deepEqual(all.at(-2), ['call costly', '', '1.00 ms', '100 µs', '5.0 %', '', '(own time)']);
    assert.deepEqual(all.at(-1), ['call costly', '2.00', '1.00 ms', '200 µs', '6.3 %', '', 'wait(pthread_mutex_lock)']);
    const said = await textOf(page, '[data-source="0"]');
    assert.match(said, /mean 3.00 ms, standard deviation 500 us, 75.0 % of the variance; in 3,000 of 3,000 intervals/);
    assert.match(said, /not measured: free at src\/<b>.c:44: trivial/);
    assert.match(await textOf(page, '[data-source="0"] summary'), /75\.0 % of the variance/);
    await quiet(page);
  },

  async 'of a long function, what is around its costly calls is shown, and the rest counted'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=0' });
    const all = await rows(page, 0);
    const shown = all.filter(([style]) => style.startsWith('line')).map((row) => Number(row[5]));
    assert.equal(shown.length, 120);
    for (const line of [40, 41, 246, 250, 254]) assert.ok(shown.includes(line), `line ${line}`);
    const gaps = all.filter(([style]) => style === 'gap').map((row) => parseInt(row[1], 10));
    assert.equal(gaps.length, 2);
    assert.equal(gaps.reduce((sum, lines) => sum + lines) + 120, 300, 'every line is shown or counted');
    assert.match(await textOf(page, '#sources > .hint'), /The source of 17 more functions is left out; vprof annotate/);
  },

  async 'text that is not what was measured has no figures beside it'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=1' });
    const all = await rows(page, 1);
    assert.deepEqual(all[0], ['line', '', '', '', '', '40', 'int other;']);
    assert.deepEqual(all.slice(1).map((row) => row.at(-1)), ['(own time)', '<!--<script> at src/<b>.c:41', 'flush<int> at src/<b>.c:250', 'serve at src/<b>.c:250', 'wait(pthread_mutex_lock)']);
    assert.match(await textOf(page, '[data-source="1"] .note'), /src\/second.c has been edited since, .* not the lines that were measured$/);
    assert.deepEqual(await rows(page, 2), [['line', '1', 'int third;'], ['line marked', '2', 'x();']], 'lines without costs have no columns for them');
  },

  async 'the details of a factor lead to its source, and name its costly calls'(pages) {
    const page = await pages.open('whole.html', { hash: '#factor=0' });
    const details = await textOf(page, '#factor-details');
    assert.match(details, /50\.0 % flush<int> at src\/<b>.c:250/);
    assert.ok(!details.includes('src/<b>.c:41'), 'a share of 0.1 % is not named');
    await page.evaluate(`[...document.querySelectorAll('#factor-details a')].find((a) => a.textContent.includes('src/<b>.c:40')).click()`);
    assert.equal((await hash(page)).at, 'sources');
    assert.deepEqual(await page.evaluate('[...document.querySelectorAll("#sources details")].map((d) => d.open)'), [true, false, false]);
    await page.focus('[data-source="0"] [role=region]');
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label").startsWith("Source of")'), true);
    await page.click('[data-source="0"] .call a.name');
    assert.equal(await count(page, '#factor-table tr.chosen'), 1, 'a callee is a link to its factor');
    await quiet(page);
  },
};
