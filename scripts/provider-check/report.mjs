import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** characters of a failure's words */
const WORDS = 4000;
/** shorter values are found everywhere */
const LEAST = 4;
const LEAST_WORD = 8;

/** A value, its words, and where it is JSON what that holds: a vendor may repeat any of them. */
function partsOf(value) {
  const leaves = (node) => (node && typeof node === 'object' ? Object.values(node).flatMap(leaves) : [`${node}`]);
  let held = [];
  try {
    held = leaves(JSON.parse(value));
  } catch {
    // it is no JSON
  }
  const words = [value, ...held].flatMap((text) => text.split(/\\n|[\s,]+/));
  const address = URL.canParse(value) ? [new URL(value).host, new URL(value).hostname] : [];
  return [value, ...held, ...words.filter((word) => word.length >= LEAST_WORD), ...address];
}

/**
 * Takes all credentials out of a text, in the forms in which vendors and clients repeat them.
 * @param values credentials, those that are no secret too: they say whose account it is
 */
export function hiding(values) {
  const parts = values.flatMap(partsOf).filter((part) => part.length >= LEAST);
  const forms = parts.flatMap((part) => [
    part,
    encodeURIComponent(part),
    JSON.stringify(part).slice(1, -1),
    Buffer.from(part).toString('base64'),
    Buffer.from(part).toString('base64url'),
  ]);
  // whole values before their parts
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => sorted.reduce((rest, form) => rest.replaceAll(form, '***'), text);
}

/** Takes out what else says whose account or machine it is: the zone, ids, addresses of mail, folders. */
export function anonymous(hide, { root, zone, label }) {
  const names = [
    [root, '.'],
    [homedir(), '~'],
    ...(label ? [[`${label}.${zone.name}`, 'label.zone.example']] : []),
    [zone.name, 'zone.example'],
    ...(zone.id && zone.id.length >= LEAST ? [[zone.id, 'zone-id']] : []),
  ];
  const known = /@example\.(net|com|org)$/;
  return (text) =>
    names
      .reduce((rest, [name, word]) => rest.replaceAll(name, word), hide(text))
      .replace(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, (mail) => (known.test(mail) ? mail : '***'))
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '***')
      // what the suite itself writes repeats one pair of digits
      .replace(/\b[0-9a-f]{24,}\b/gi, (id) => (/^(..)\1+$/.test(id) ? id : '***'))
      .replace(/\b\d{9,}\b/g, '***');
}

/** The words of a failure without its stack, which says where on this machine it came from. */
export const wordsOf = (messages, clean) =>
  clean(
    messages
      .join('\n')
      .split('\n')
      .filter((line) => !/^\s+at /.test(line))
      .join('\n')
      .trim(),
  ).slice(0, WORDS);

function readable(report) {
  const { counts, checks, cleanup } = report;
  const lines = checks.map(({ name, result, ms, words }) => {
    const why = words ? `\n\n  \`\`\`\n${words.replace(/^/gm, '  ')}\n  \`\`\`\n` : '';
    return `- ${result}: ${name} (${ms} ms)${why}`;
  });
  const list = (items) => (items.length ? items.map((item) => `- ${item}`).join('\n') : '- nothing');
  return `# ${report.label}, checked on ${report.date.slice(0, 10)}

Zoneward ${report.version}, Node ${report.node}, ${report.where}: ${counts.passed} passed, ${counts.failed} failed, ${counts.refused} refused, in ${Math.round(report.ms / 1000)} s.
${report.ended}

This report holds no credential and no name of the zone, and long ids are taken out. Read it, then send it in with an issue.

## Checks

${lines.join('\n') || '- none'}

## Not tried, or refused by the provider

${list(report.notTried)}

## Left behind

${list(cleanup.left)}

${cleanup.others}
`;
}

/** Writes the report as JSON and as text, cleaned value by value; returns the file of the text. */
export function writeReport(folder, report, clean) {
  const cleaned = (node) => {
    if (typeof node === 'string') return clean(node);
    if (Array.isArray(node)) return node.map(cleaned);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, cleaned(value)]));
  };
  const file = join(folder, `provider-check-${report.kind}`);
  const { kind, label, version, node, date, ...rest } = report;
  const whole = { kind, label, version, node, date, ...cleaned(rest) };
  writeFileSync(`${file}.json`, `${JSON.stringify(whole, null, 2)}\n`);
  writeFileSync(`${file}.md`, readable(whole));
  return `${file}.md`;
}
