// Bundles src/ into one HTML file with style and script inside, and writes it as a C++ source too.
//   node build.mjs SOURCE_DIR OUT_DIR
// Run in the directory that holds node_modules.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';

const [source, out] = process.argv.slice(2);
const nodeModules = join(process.cwd(), 'node_modules');
const require = createRequire(join(process.cwd(), 'package.json'));
const { build } = require('esbuild');

/** The licence texts that the bundled packages require, each different one once. */
function licences(inputs) {
  const names = new Set();
  for (const input of inputs) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) names.add(match[1]);
  }
  const texts = new Map();
  for (const name of [...names].sort()) {
    const directory = join(nodeModules, name);
    const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    const text = readFileSync(join(directory, file), 'utf8').trim();
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).version}`]);
  }
  return [...texts].map(([text, packages]) => `${packages.join(', ')}\n\n${text}`).join('\n\n');
}

/** Splits the text, since compilers limit the length of a literal. */
function cppSource(text) {
  const pieces = [];
  for (let at = 0; at < text.length; at += 8000) pieces.push(text.slice(at, at + 8000));
  const literals = pieces.map((piece) => `R"vprof~page(${piece})vprof~page"`);
  if (text.includes(')vprof~page"')) throw new Error('the page holds the delimiter of its literal');
  return `// Generated from report/html.\n#include "html/html_page.h"\n\nnamespace vprof::report {\n\n` +
    `std::string_view html_page() {\n  static constexpr std::string_view kPage =\n${literals.join('\n')};\n` +
    `  return kPage;\n}\n\n}  // namespace vprof::report\n`;
}

const bundle = await build({
  entryPoints: [join(source, 'src/main.js')],
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'iife',
  target: 'es2020',
  charset: 'utf8',
  legalComments: 'none',
  nodePaths: [nodeModules],
});
const style = await build({
  entryPoints: [join(source, 'src/style.css')],
  bundle: true,
  minify: true,
  write: false,
  charset: 'utf8',
});
const script = bundle.outputFiles[0].text;
for (const text of [script, style.outputFiles[0].text]) {
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error('the bundle holds what would end its element');
}
const page = readFileSync(join(source, 'src/page.html'), 'utf8')
  .replace('/*licences*/', () => licences(Object.keys(bundle.metafile.inputs)))
  .replace('/*style*/', () => style.outputFiles[0].text)
  .replace('/*script*/', () => script);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'page.html'), page);
writeFileSync(join(out, 'html_page.cpp'), cppSource(page));
