import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { until } from '../support/world.js';

for (const { kind, skip } of databases()) {
  describeUnless(skip)(`jobs on ${kind}`, () => {
    let service: Service;
    beforeAll(async () => {
      service = await startService(kind);
    });
    afterAll(() => service?.stop());

    it('every scheduled job runs soon after the start', async () => {
      await until('all ran', async () => {
        const rows = await rowsOf(service, `SELECT name, runs, state, next_at FROM jobs WHERE kind = 'scheduled'`);
        return rows.length > 0 && rows.every((row) => Number(row.runs) > 0 && row.state === 'waiting');
      });
    });
  });
}
