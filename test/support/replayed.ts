import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { DnsProvider, RemoteRecord } from '../../src/providers/provider.js';
import { describeUnless } from './suites.js';
import {
  type Essence,
  type Handler,
  type Interaction,
  noRecordings,
  playSteps,
  recording,
  replay,
  type Scenario,
  type StandIn,
  type Step,
  startStandIn,
} from './vendor.js';

/** A record as a test compares it with what the recorded answers hold. */
export interface Shown {
  /** '' where ids are not compared */
  id: string;
  type: string;
  host: string;
  value: string;
  ttl: number;
}

export interface Replayed {
  label: string;
  /** name of the recording */
  kind: string;
  /** the part of recorded paths that the endpoint stands for */
  base: string;
  /** what of a request has to be as it was recorded */
  essence: Essence;
  connect: (endpoint: string) => DnsProvider;
  /** the records that the scenario's last answer to a listing holds */
  listed: (scenario: Scenario, zone: string) => Shown[];
  /** the id that the recorded answers give a record that was made, or changed; left out: not compared */
  idOf?: (scenario: Scenario, step: Step) => string | undefined;
  /** between the adapter and the recording, where the recording client made other calls for the same */
  through?: (play: Handler, zone: string) => Handler;
  /** scenarios that are not played, with the reason */
  without?: Record<string, string>;
}

/** Plays all recorded scenarios of a provider with its adapter, and compares what it returns. */
export function replayed({ label, kind, base, essence, connect, listed, idOf, through, without = {} }: Replayed) {
  describeUnless(noRecordings)(`${label}: recorded traffic`, () => {
    if (noRecordings) return;
    const { zone, scenarios } = recording(kind);
    let standIn: StandIn;
    beforeAll(async () => {
      standIn = await startStandIn();
    });
    afterAll(() => standIn.stop());
    const shown = ({ remoteId, type, host, value, ttl }: RemoteRecord): Shown => ({
      id: idOf ? remoteId : '',
      ...{ type, host, value, ttl },
    });
    const sorted = (list: Shown[]) => list.map((one) => JSON.stringify(one)).sort();

    for (const scenario of scenarios.filter(({ name }) => !(name in without))) {
      it(scenario.name, async () => {
        const misses: string[] = [];
        const play = replay(scenario, base, essence, misses);
        standIn.handler = through?.(play, zone) ?? play;
        const same = (step: Step, id: string | null) => {
          const expected = idOf?.(scenario, step);
          if (expected !== undefined) assert.equal(id, expected);
        };
        try {
          await playSteps(connect(standIn.url), zone, scenario, {
            created: same,
            updated: same,
            listed: (records) => assert.deepEqual(sorted(records.map(shown)), sorted(listed(scenario, zone))),
          });
        } finally {
          assert.deepEqual(misses, []);
        }
      });
    }
  });
}

/** The body of the last recorded answer to requests of which something holds. */
export const lastAnswer = <T>(scenario: Scenario, holds: (request: Interaction['request']) => boolean): T => {
  const last = scenario.interactions.filter(({ request }) => holds(request)).at(-1);
  assert.ok(last, `${scenario.name}: no such request was recorded`);
  return last.response.body as T;
};
