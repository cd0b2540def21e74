// Generates the skeleton of an adapter with a stand-in of its API, tests and a page: npm run provider:new -- <kind>
// [label]. The generated code passes the contract suite; docs/writing-a-provider.md describes the next steps.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [kind = '', ...words] = process.argv.slice(2);
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};
if (!/^[a-z][a-z0-9]{1,30}$/.test(kind))
  fail('usage: npm run provider:new -- <kind> [label]; a kind is lower-case letters and digits');
const label = words.join(' ') || kind[0].toUpperCase() + kind.slice(1);
const names = { __kind__: kind, __name__: kind, __Name__: kind[0].toUpperCase() + kind.slice(1), __Label__: label };

const files = {
  'declaration.ts.txt': `src/providers/${kind}/declaration.ts`,
  'provider.ts.txt': `src/providers/${kind}/${kind}.provider.ts`,
  'stand-in.ts.txt': `test/providers/${kind}/stand-in.ts`,
  'test.ts.txt': `test/providers/${kind}/${kind}.test.ts`,
  'page.md': `docs/providers/${kind}.md`,
};
const there = Object.values(files).filter((file) => existsSync(join(root, file)));
if (there.length) fail(`nothing was written: ${there.join(', ')} exists`);
for (const [template, file] of Object.entries(files)) {
  const text = readFileSync(join(root, 'scripts/provider-template', template), 'utf8');
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(
    join(root, file),
    text.replace(/__\w+?__/g, (name) => names[name] ?? name),
  );
}

const registry = join(root, 'src/providers/registry.ts');
const lines = readFileSync(registry, 'utf8').split('\n');
const add = (line, pattern) => {
  const after = lines.findIndex((other) => pattern.test(other) && other > line);
  lines.splice(after >= 0 ? after : lines.findLastIndex((other) => pattern.test(other)) + 1, 0, line);
};
add(`import { ${kind} } from './${kind}/declaration.js';`, /^import \{ \w+ \} from '\.\/\w+\/declaration/);
add(`  ${kind},`, /^ {2}\w+,$/);
writeFileSync(registry, lines.join('\n'));

process.stdout.write(`${[...Object.values(files), 'src/providers/registry.ts'].map((file) => `  ${file}`).join('\n')}
Next: npx jest test/providers/${kind} and npx tsc -p test; then docs/writing-a-provider.md, whose table says what the kit has
`);
