import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { describedBy, type Exchange, noDescription } from '../../support/schemas.js';
import type { Bench } from './bench.js';

/**
 * How the exchanges with a stand-in are held against a description of the API, and all exceptions from it:
 * `<kind>/description.ts`. An exception that nothing needs fails the suite of its kind.
 */
export interface Description {
  /** in the folder `provider-schemas`, without `.json` */
  file: string;
  /** the part of the stand-in's paths that is not in the description's; left out: that of the declared address */
  base?: string;
  /** why a PATCH may leave out what the description requires, where it describes the whole for it */
  parts?: string;
  /** paths of the stand-in that the description does not have, with the reason */
  beyond?: Readonly<Record<string, string>>;
  /** types of records that the description does not have, with the reason: exchanges with one are not checked */
  types?: Readonly<Record<string, string>>;
  /** where the description is wrong or behind: what of a complaint is not counted, with the reason */
  wrong?: readonly { where: RegExp; reason: string }[];
}

/** Null where there is no description of the API. */
function descriptionOf(kind: string): Description | null {
  if (!existsSync(join(import.meta.dirname, '..', kind, 'description.ts'))) return null;
  return (require(`../${kind}/description.js`) as { description: Description }).description;
}

/** What one complaint is about, whatever the ids in it. */
const shape = (complaint: string): string =>
  complaint
    .replace(/^(\S+) \S*?(\/\w+)? /, '$1 …$2 ')
    .replace(/\d+/g, '#')
    .slice(0, 300);

/** Whether the body or the answer has a record of this type. */
const speaksOf = ({ request, answer }: Exchange, type: string): boolean =>
  new RegExp(`[">]${type}["<]`).test(JSON.stringify([request.body, answer.body]).replaceAll('\\"', '"'));

/** Comes after all other checks: every exchange of them is held against the description of the API. */
export function described(bench: Bench): void {
  it('every request, and every answer of the stand-in, fits the description of the API', async () => {
    const { definition, standIn } = bench.target;
    const description = descriptionOf(bench.declaration.kind);
    if (!description || !standIn)
      return bench.tell('description of the API', description ? 'a real server' : 'there is none of this API');
    const { file, base, parts, beyond = {}, types = {}, wrong = [] } = description;
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
      const outside =
        Object.keys(beyond).find((path) => exchange.request.path.includes(path)) ??
        Object.keys(types).find((type) => exchange.request.query.type === type || speaksOf(exchange, type));
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
    const known = [...Object.keys({ ...beyond, ...types }), ...wrong.map(({ where }) => `${where}`)];
    const unused = known.filter((name) => !used.has(name));
    assert.deepEqual(unused, [], 'exceptions that nothing needs');
    if (parts) bench.tell('description, PATCH', parts);
    for (const { where, reason } of wrong) bench.tell(`description, ${where}`, reason);
    for (const [path, reason] of Object.entries({ ...beyond, ...types })) bench.tell(`description, ${path}`, reason);
  });
}
