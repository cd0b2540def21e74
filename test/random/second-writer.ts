import assert from 'node:assert/strict';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { DnsProvider, RemoteZone } from '../../src/providers/provider.js';
import type { Client } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import type { Dice } from './dice.js';
import { type Told, told } from './grounds.js';

/** What somebody else writes a zone through. */
interface Pen {
  client: Client;
  domain: number;
  /** past the service */
  direct: DnsProvider;
  remote: RemoteZone;
  /** whether the provider bears two writers at once: who edits a file by hand has to wait for the other one */
  atOnce: boolean;
}

/** Somebody who writes all the time, at names of their own, and knows what was acknowledged. */
export class SecondWriter {
  private readonly mine = new Map<string, string>();
  private readonly ids: number[] = [];
  private stopped = false;
  private readonly running: Promise<void>;
  acknowledged = 0;

  constructor(
    private readonly pen: Pen,
    private readonly dice: Dice,
  ) {
    this.running = this.write();
    this.running.catch(() => undefined);
  }

  /** @returns what was acknowledged and is not there. @throws what a write failed by */
  async stop(): Promise<string[]> {
    this.stopped = true;
    await this.running;
    const { client, domain, direct, remote } = this.pen;
    const { status, data } = await client.get(`/api/domains/${domain}/records?refresh=true`);
    assert.equal(status, 200);
    const words = (list: readonly Pick<Told, 'host' | 'value'>[]) =>
      list.flatMap(({ host, value }) => (host.startsWith('zz') ? [`${host} ${value}`] : [])).toSorted();
    const wanted = [...this.mine].map(([host, value]) => `${host} ${value}`).toSorted();
    const places = {
      'the cache': words(data.list),
      'the provider': words((await direct.listRecords(remote)).map(told)),
    };
    return Object.entries(places).flatMap(([place, held]) => [
      ...wanted.filter((one) => !held.includes(one)).map((one) => `${place} has lost ${one} of the second writer`),
      ...held.filter((one) => !wanted.includes(one)).map((one) => `${place} has ${one}, which nobody wrote`),
    ]);
  }

  private async write(): Promise<void> {
    const { client, domain, atOnce } = this.pen;
    const path = `/api/domains/${domain}/records` as const;
    for (let n = 0; !this.stopped; n++, await sleep(this.dice.int(0, 40))) {
      if (atOnce && this.dice.chance(0.1)) {
        await this.past(n);
        continue;
      }
      const value = `192.0.2.${n % 250}`;
      const way = this.dice.next();
      const id = this.ids.length ? this.dice.of(this.ids) : undefined;
      if (id === undefined || (way < 0.5 && this.ids.length < 12)) {
        const host = `zz${n}`;
        const answer = await client.post(path, { host, type: 'A', value, ttl: 300 });
        if (!this.isTaken(answer)) continue;
        this.mine.set(host, value);
        this.ids.push((answer.data as RecordView).id);
      } else if (way < 0.75) {
        const answer = await client.put(`${path}/${id}`, { value });
        if (this.isTaken(answer)) this.mine.set((answer.data as RecordView).host, value);
      } else await this.drop(id);
    }
  }

  private async drop(id: number): Promise<void> {
    const { client, domain } = this.pen;
    const path = `/api/domains/${domain}/records/${id}` as const;
    const { host } = (await client.get(path)).data as RecordView;
    if (!this.isTaken(await client.delete(path))) return;
    this.mine.delete(host);
    this.ids.splice(this.ids.indexOf(id), 1);
  }

  /** Past the service. */
  private async past(n: number): Promise<void> {
    const { direct, remote } = this.pen;
    const after = { host: `zzd${n}`, type: 'A', value: `198.51.100.${n % 250}`, ttl: 300, priority: null };
    const more = { weight: null, line: 'default', proxied: false, enabled: true };
    const [outcome] = await direct.apply(remote, [{ op: 'create', after: { ...after, ...more } }]);
    assert.ok(outcome?.ok, `past the service: ${JSON.stringify(outcome)}`);
    this.mine.set(after.host, after.value);
    this.acknowledged++;
  }

  /** Whether a write was acknowledged. One that finds its zone busy for too long was not. */
  private isTaken({ status, code, msg, data }: { status: number; code: number; msg: string; data: unknown }): boolean {
    const busy = status === 409 && (data as { reason?: string } | null)?.reason === 'busy';
    assert.ok(status < 300 || busy, `the second writer: ${status} ${code} ${msg} ${JSON.stringify(data)}`);
    if (!busy) this.acknowledged++;
    return !busy;
  }
}
