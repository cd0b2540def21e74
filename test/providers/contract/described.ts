import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { describedBy, noDescription } from '../../support/schemas.js';
import { DESCRIPTIONS } from '../descriptions.js';
import type { Bench } from './bench.js';

/** What one complaint is about, whatever the ids in it. */
const shape = (complaint: string): string =>
  complaint
    .replace(/^(\S+) \S*?(\/\w+)? /, '$1 …$2 ')
    .replace(/\d+/g, '#')
    .slice(0, 300);

/** Comes after all other checks: every exchange of them is held against the description of the API. */
export function described(bench: Bench): void {
  it('every request, and every answer of the stand-in, fits the description of the API', async () => {
    const { definition, standIn } = bench.target;
    const description = DESCRIPTIONS[bench.declaration.kind];
    if (!description || !standIn)
      return bench.tell('description of the API', description ? 'a real server' : 'there is none of this API');
    const { file, base, parts, beyond = {}, wrong = [] } = description;
    const absent = noDescription(file);
    if (absent) return bench.tell('description of the API', absent);
    // what the other checks have no need of
    await bench.target.provider.zoneInfo?.(bench.zone);
    await bench.target.provider.findZone?.(bench.zone.name);
    const check = describedBy(
      file,
      base ?? (definition.api ? new URL(definition.api).pathname.replace(/\/$/, '') : ''),
      parts !== undefined,
    );
    const used = new Set<string>();
    const complaints = new Map<string, string>();
    for (const exchange of standIn.exchanges) {
      const outside = Object.keys(beyond).find((path) => exchange.request.path.includes(path));
      if (outside !== undefined) {
        used.add(outside);
        continue;
      }
      for (const complaint of check(exchange)) {
        const known = wrong.find(({ where }) => where.test(complaint));
        if (known) used.add(`${known.where}`);
        else if (!complaints.has(shape(complaint))) {
          const { request, answer } = exchange;
          complaints.set(
            shape(complaint),
            `${complaint}\n    sent ${JSON.stringify(request.body)?.slice(0, 200)}, answered ${JSON.stringify(answer.body)?.slice(0, 200)}`,
          );
        }
      }
    }
    assert.ok(standIn.exchanges.length > 100, 'there is something to check');
    const words = [...complaints.values()];
    assert.ok(words.length === 0, `${words.length} sorts of complaints:\n${words.slice(0, 40).join('\n')}`);
    const unused = [...Object.keys(beyond), ...wrong.map(({ where }) => `${where}`)].filter((name) => !used.has(name));
    assert.deepEqual(unused, [], 'exceptions that nothing needs');
    if (parts) bench.tell('description, PATCH', parts);
    for (const { where, reason } of wrong) bench.tell(`description, ${where}`, reason);
    for (const [path, reason] of Object.entries(beyond)) bench.tell(`description, ${path}`, reason);
  });
}
