import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { PROVIDERS } from '../../src/providers/registry.js';
import {
  type Compared,
  type Difference,
  playScenario,
  type ReplaySetup,
  readRecording,
  recordingNames,
  withoutRecordings,
} from '../support/recordings.js';
import { describeUnless } from '../support/suites.js';
import { connectTo, type StandIn, startStandIn } from '../support/vendor.js';
import { EVERYWHERE } from './differences.js';

const hasFile = (kind: string, file: string) => existsSync(join(import.meta.dirname, kind, file));
const kinds = PROVIDERS.map(({ kind }) => kind);
const replays = kinds
  .filter((kind) => hasFile(kind, 'replay.ts'))
  .map((kind) => ({
    kind,
    setup: (require(`./${kind}/replay.js`) as { setup: ReplaySetup }).setup,
    differences: hasFile(kind, 'differences.ts')
      ? (require(`./${kind}/differences.js`) as { differences: readonly Difference[] }).differences
      : [],
  }));

const UNLIMITED = { requests: 1_000_000, perSeconds: 1, more: [], concurrency: 8 };

describeUnless(withoutRecordings)('recorded traffic', () => {
  if (withoutRecordings) {
    it('is played again', () => assert.fail('there is none'));
    return;
  }
  const names = recordingNames();
  let standIn: StandIn;
  beforeAll(async () => {
    standIn = await startStandIn();
  });
  afterAll(() => standIn.stop());

  for (const { kind, setup, differences } of replays.filter(({ setup }) => names.includes(setup.recording))) {
    describe(kind, () => {
      const recording = readRecording(setup.recording);
      const { zone, scenarios } = recording;
      const accepted = [...EVERYWHERE, ...differences];
      const sum: Compared = { zones: 0, ids: 0, records: 0, writes: 0, refusals: 0 };
      for (const scenario of scenarios) {
        it(scenario.name, async () => {
          const definition = { ...setup.definition, limits: UNLIMITED };
          const compared = await playScenario(setup, accepted, zone, scenario, (handler) => {
            standIn.handler = handler;
            return connectTo(definition, setup.credentials(standIn.url, recording));
          });
          for (const key of Object.keys(sum) as (keyof Compared)[]) sum[key] += compared[key];
          const all = Object.values(compared).reduce((one, other) => one + other, 0);
          assert.ok(all > 0 || !scenario.steps?.length, 'a scenario that compares nothing is worth nothing');
        });
      }

      it('compares something of each sort that is in it', () => {
        const steps = scenarios.flatMap((scenario) => scenario.steps ?? []);
        const has = (...ops: string[]) => steps.some((step) => ops.includes(step.op));
        assert.equal(sum.zones > 0, has('find-zone'));
        assert.equal(sum.ids > 0, has('create', 'update'));
        assert.equal(sum.records > 0, has('list', 'update', 'delete'));
        assert.equal(sum.writes > 0, has('create', 'update', 'delete'));
      });
    });
  }
});

describe('differences from recorded traffic', () => {
  it('each kind whose differences are listed has a setup, and each difference its reason', () => {
    const replayed = new Set(replays.map(({ kind }) => kind));
    assert.deepEqual(
      kinds.filter((kind) => hasFile(kind, 'differences.ts') && !replayed.has(kind)),
      [],
    );
    for (const { kind, setup } of replays) assert.equal(setup.definition.kind, kind);
    for (const { what, reason } of [...EVERYWHERE, ...replays.flatMap(({ differences }) => differences)])
      assert.ok(what && reason, what);
  });
});
