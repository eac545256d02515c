// A headless browser and its pages. Waits only for conditions, without a time limit.
// Run in the directory that holds node_modules.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const puppeteer = createRequire(join(process.cwd(), 'package.json'))('puppeteer-core');

export function launch(program) {
  return puppeteer.launch({
    executablePath: program,
    pipe: true,
    timeout: 0,
    protocolTimeout: 0,
    args: ['--no-first-run', '--disable-gpu', '--disable-dev-shm-usage', '--disable-extensions',
      '--disable-background-networking', '--hide-scrollbars',
      ...(process.getuid() === 0 ? ['--no-sandbox'] : [])], // its sandbox refuses root
  });
}

/** Opens a page and keeps `complaints`, all that went wrong in it, and `requests`, the URLs that it asked for. */
export async function open(browser, url, { width = 1280, height = 900, dark = false } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  page.devtools = await page.createCDPSession();
  page.complaints = [];
  page.requests = [];
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('console', (message) => page.complaints.push(`console: ${message.text()}`));
  page.on('request', (request) => page.requests.push(request.url()));
  await page.setViewport({ width, height });
  await media(page, dark ? 'dark' : 'light');
  await page.goto(url);
  return page;
}

/** Waits until an expression becomes true. It may only depend on the document. */
export const until = (page, expression) => page.waitForFunction(expression, { polling: 'mutation' });

/** Both at once: puppeteer's own calls for the type and the features each reset the other. */
export function media(page, scheme, type = 'screen') {
  return page.devtools.send('Emulation.setEmulatedMedia',
    { media: type, features: [{ name: 'prefers-color-scheme', value: scheme }] });
}
