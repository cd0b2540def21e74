import { setTimeout as sleep } from 'node:timers/promises';

const ROUNDS = 4;
/** ms in which a provider may still carry out what was sent by a suite that was broken off */
const LATE_MS = 3_000;

/** Reads and tries again: a zone that cannot be read once is no reason to leave records behind. */
async function persistently(read) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (attempt === ROUNDS) throw error;
      await sleep(1000 * attempt);
    }
  }
}

/**
 * Brings a zone back to what it held, until a list proves it.
 * @param surplus of a list, the records that the suite made
 * @param missing of a list, the records that it took away
 * @param late whether something that was sent may come later
 * @returns what was removed, and words about what is left
 */
export async function cleanUp({ list, apply, surplus, missing, late }) {
  let removed = 0;
  let reason = '';
  for (let round = 0; ; round++) {
    const found = await persistently(list);
    const [more, less] = [surplus(found), missing(found)];
    const clean = !more.length && !less.length;
    if (clean && (!late || round > 0)) return { removed, left: [], found };
    if (round === ROUNDS)
      return {
        removed,
        found,
        left: [
          ...more.map(({ host, type }) => `${type} at ${host}: ${reason || 'not removed'}`),
          ...less.map(({ host, type }) => `${type} at ${host} is gone: ${reason || 'not made again'}`),
        ],
      };
    const changes = [
      ...more.map((before) => ({ op: 'delete', before })),
      ...less.map(({ remoteId: _id, readOnly: _ro, ...after }) => ({ op: 'create', after })),
    ];
    const outcomes = clean ? [] : await apply(changes).catch((error) => [{ ok: false, error }]);
    removed += outcomes.slice(0, more.length).filter(({ ok }) => ok).length;
    reason = outcomes.find(({ ok }) => !ok)?.error.message ?? '';
    if (late || reason) await sleep(LATE_MS);
  }
}
