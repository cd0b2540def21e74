import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ProviderDefinition } from '../../src/providers/provider.js';

const docs = resolve(import.meta.dirname, '../../docs');
export const matrixFile = resolve(docs, 'providers.md');

/** The documentation page of a provider kind; null if there is none. */
export function pageOf(kind: string): string | null {
  const file = resolve(docs, 'providers', `${kind}.md`);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

/** The evidence that a page states for its adapter, on one line; null if it states none. */
export function evidenceOf(page: string): string | null {
  const paragraph = page.split(/\n\s*\n/).find((text) => /^(#+ |\*\*|- \*\*)?(Backed by|Evidence)/.test(text.trim()));
  if (!paragraph) return null;
  const words = paragraph.replace(/\s+/g, ' ').replace(/^(- )?\*\*(Backed by|Evidence)\.?:?\*\*\.?:? ?/, '');
  return words.replace(/^Backed by:? /, '').trim();
}

const yes = (value: unknown): string => (value ? 'yes' : '');
const TTL_MAX = 2147483647;

function limitsOf({ limits: { requests, perSeconds, more, concurrency } }: ProviderDefinition): string {
  const windows = [{ requests, perSeconds }, ...more].map((one) => `${one.requests} in ${one.perSeconds} s`);
  return `${windows.join(', ')}; ${concurrency} at once`;
}

function rowOf(definition: ProviderDefinition): string {
  const { kind, label, capabilities } = definition;
  const { types, ids, replaces, toggle, remark, weight, lines, proxy, apexCname, minTtl, maxTtl, createZone, atomic } =
    capabilities;
  const cells = [
    `[${label}](providers/${kind}.md)`,
    `\`${kind}\``,
    types.join(' '),
    replaces === 'record' ? 'records' : replaces === 'set' ? 'record sets' : 'whole zone',
    ids,
    toggle === 'record' ? 'yes' : '',
    yes(remark),
    yes(weight),
    lines.length > 1 ? lines.length : '',
    yes(proxy),
    yes(apexCname),
    yes(createZone),
    yes(atomic),
    maxTtl === TTL_MAX ? `${minTtl}` : `${minTtl}–${maxTtl}`,
    limitsOf(definition),
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEAD = [
  'Provider',
  'Kind',
  'Types that can be written',
  'One write replaces',
  'Ids',
  'Disables',
  'Remark',
  'Weight',
  'Lines',
  'Proxy',
  'CNAME at apex',
  'Makes zones',
  'Atomic lists',
  'TTL',
  'Requests at most',
];

/** Generates `docs/providers.md` from the declarations and the evidence on the pages. */
export function matrix(definitions: readonly ProviderDefinition[]): string {
  const sorted = definitions.toSorted((a, b) => (a.label.toLowerCase() < b.label.toLowerCase() ? -1 : 1));
  const evidence = sorted.map(({ kind, label }) => {
    const words = evidenceOf(pageOf(kind) ?? '');
    return `- **${label}** (\`${kind}\`): ${words}`;
  });
  return `# Providers

Made from the declarations in \`src/providers/*/declaration.ts\`; a test fails where it differs
(\`UPDATE_DOCS=1 npx jest test/unit/provider-docs\` writes it anew). Each provider has a page of its own: where to get the key, the
smallest right that is enough, what it cannot do.

"Ids": \`own\` where the provider gives each record an id, \`derived\` where they are made of its content. What the
provider cannot disable or remark, Zoneward keeps itself. "Lines" counts those that every zone has; more may come with the
zone's plan.

| ${HEAD.join(' | ')} |
|${HEAD.map(() => '---').join('|')}|
${sorted.map(rowOf).join('\n')}

## What each adapter is backed by

Where it says "has never met the real API", it was tried against recordings, descriptions and a stand-in only. With an
account there you can prove it: \`npm run provider:check -- <kind> --zone <name> --credentials <file> --write\` tries it under
one label of a zone, which may be in use, removes what it made, and writes a report without credentials to send in
([how](writing-a-provider.md#against-the-real-api)).

${evidence.join('\n')}
`;
}
