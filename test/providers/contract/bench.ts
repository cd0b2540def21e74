import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { dnsRecord, type LooseRecord, type RecordType, rdataOf } from '../../../src/dns/record.js';
import type {
  Capabilities,
  Change,
  DnsRecord,
  Outcome,
  ProviderDefinition,
  RemoteRecord,
  RemoteZone,
} from '../../../src/providers/provider.js';
import { PROVIDERS } from '../../../src/providers/registry.js';
import type { Handler, StandIn } from '../../support/vendor.js';
import type { ContractTarget } from './target.js';
import { COMMON, type Given, VALUES } from './values.js';

/** The declaration of the kind that a test file is named after: known before anything is started. */
export function declarationOfFile(): ProviderDefinition {
  const kind = process.env.CHECK_KIND ?? basename(expect.getState().testPath ?? '').replace(/\..*/, '');
  const found = PROVIDERS.find((definition) => definition.kind === kind);
  if (!found)
    throw new Error(`The contract is for a file <kind>.test.ts; "${kind}" is not in src/providers/registry.ts`);
  return found;
}

export const byValue = (list: readonly DnsRecord[]): DnsRecord[] =>
  list.toSorted((x, y) => (`${x.host} ${x.type} ${x.value}` < `${y.host} ${y.type} ${y.value}` ? -1 : 1));

/** What all checks of one target share. */
export class Bench {
  /** there from `beforeAll` on */
  target!: ContractTarget;
  readonly capabilities: Capabilities;
  private readonly left = new Map<string, string>();

  constructor(
    readonly label: string,
    readonly declaration: ProviderDefinition,
  ) {
    this.capabilities = declaration.capabilities;
  }

  get zone(): RemoteZone {
    return this.target.zone;
  }
  get ttls(): readonly [number, number] {
    const least = Math.max(600, this.capabilities.minTtl);
    return this.target.ttls ?? [least, least * 2];
  }
  /** A value of a type and another one. */
  values = (type: RecordType): readonly [Given, Given] => this.target.values?.[type] ?? VALUES[type];
  writes = (type: string): boolean => this.capabilities.types.some((one) => one === type);

  record = (host: string, type: string, given: Given, more: Partial<LooseRecord> = {}): DnsRecord =>
    dnsRecord({ host, type, ttl: this.ttls[0], ...given, ...more }, this.zone.name);
  a = (host: string, value: string, more: Partial<LooseRecord> = {}): DnsRecord =>
    this.record(host, 'A', { value }, more);

  list = (): Promise<RemoteRecord[]> => this.target.provider.listRecords(this.zone);
  at = async (host: string, type: string): Promise<RemoteRecord[]> =>
    (await this.list()).filter((r) => r.host === host && r.type === type);

  /** A listed record as it is compared: a remark that is empty, and a weight that nobody asked for, say nothing. */
  bare = ({ remoteId: _id, readOnly: _ro, remark, ...canonical }: RemoteRecord): DnsRecord => ({
    ...canonical,
    ...(remark ? { remark } : {}),
    weight: this.capabilities.weight ? null : canonical.weight,
  });

  apply = (...changes: Change[]): Promise<Outcome[]> => this.target.provider.apply(this.zone, changes);

  /** Applies changes that all must succeed; returns the ids. */
  async done(...changes: Change[]): Promise<(string | null)[]> {
    const outcomes = await this.apply(...changes);
    assert.equal(outcomes.length, changes.length, 'one outcome per change');
    return outcomes.map((outcome, i) => {
      if (!outcome.ok) assert.fail(`${changes[i]?.op} failed: ${outcome.error.kind}: ${outcome.error.message}`);
      return outcome.remoteId;
    });
  }
  create = (...records: DnsRecord[]): Promise<(string | null)[]> =>
    this.done(...records.map((after): Change => ({ op: 'create', after })));

  /** The set as listed; checks that it is exactly `expected`, editable, and what the name server answers. */
  async shows(host: string, type: string, expected: DnsRecord[]): Promise<RemoteRecord[]> {
    const listed = await this.at(host, type);
    assert.deepEqual(byValue(listed.map(this.bare)), byValue(expected));
    assert.ok(
      listed.every((r) => !r.readOnly),
      'what can be written is not read-only',
    );
    const { dig } = this.target;
    // a delegation is a referral, not an answer; of an IPv4-mapped address there are several texts
    const asked =
      COMMON.includes(type) && (type !== 'NS' || host === '@') && !expected.some((r) => /^::ffff:/.test(r.value));
    if (dig && asked) {
      const live = expected.filter((r) => r.enabled).map(rdataOf);
      const name = host === '@' ? this.zone.name : `${host}.${this.zone.name}`;
      assert.deepEqual((await dig(name, type)).sort(), live.sort(), `dig ${name} ${type}`);
    }
    return expected.map((e) => listed.find((r) => r.value === e.value && r.priority === e.priority) as RemoteRecord);
  }

  async clear(list: readonly RemoteRecord[]): Promise<void> {
    const ids = await this.done(...list.map((r): Change => ({ op: 'delete', before: r })));
    assert.ok(ids.every((id) => id === null));
  }

  /** Everything that the zone holds, ids included. */
  state = async (): Promise<string[]> => (await this.list()).map((r) => JSON.stringify(r)).sort();

  /**
   * Whether the vendor can hold what such a name stands for. Where the target says that it cannot, the write of it has
   * to be refused in words, nothing being changed.
   */
  async can(names: readonly string[], refused: () => DnsRecord): Promise<boolean> {
    const after = refused();
    const said = names.find((one) => this.target.cannot?.[one] !== undefined);
    const name = said ?? (this.target.refuses?.(after) ? names[0] : undefined);
    if (name === undefined) return !this.target.live || this.isTaken(names, after);
    this.tell(name, this.target.cannot?.[name] ?? 'refused by the adapter');
    const found = await this.state();
    const [outcome] = await this.apply({ op: 'create', after });
    assert.ok(outcome && !outcome.ok, `${name}: what the vendor cannot hold is refused`);
    assert.equal(outcome.error.kind, 'rejected', outcome.error.message);
    assert.equal(outcome.error.mayHaveApplied, false);
    assert.deepEqual(await this.state(), found, 'nothing was changed by what is refused');
    return false;
  }

  /** Whether a real account takes such a value; a refusal of what every DNS has is left to the check, which fails. */
  private async isTaken(names: readonly string[], after: DnsRecord): Promise<boolean> {
    const found = await this.state();
    const [outcome] = await this.apply({ op: 'create', after });
    await this.restore(found);
    if (outcome?.ok !== false || outcome.error.kind !== 'rejected' || outcome.error.mayHaveApplied) return true;
    if (names.some((name) => / at name$/.test(name))) return true;
    this.tell(names[0] as string, `refused: ${outcome.error.message.replace(/\s+/g, ' ')}`);
    return false;
  }

  /** Brings the zone back to what it held. */
  private async restore(found: readonly string[]): Promise<void> {
    const now = new Map((await this.list()).map((r) => [JSON.stringify(r), r]));
    const added = [...now].filter(([text]) => !found.includes(text));
    const gone = found.filter((text) => !now.has(text)).map((text) => JSON.parse(text) as RemoteRecord);
    const changes = [
      ...added.map(([, before]): Change => ({ op: 'delete', before })),
      ...gone.map(({ remoteId: _id, readOnly: _ro, ...after }): Change => ({ op: 'create', after })),
    ];
    if (changes.length) await this.apply(...changes);
  }

  /** Whether the target says, with a reason, that a whole check is not for it. */
  leavesOut(name: string): boolean {
    const reason = this.target.cannot?.[name];
    if (reason !== undefined) this.tell(name, reason);
    return reason !== undefined;
  }

  /** Keeps what was not tried, to be told at the end. */
  tell(name: string, reason: string): void {
    this.left.set(name, reason);
  }

  /**
   * A check that leaves the zone as it was, ids included.
   * @param unless why it is not for a kind that declares so; told beside its name
   */
  check(name: string, body: () => Promise<void>, unless?: string | false): void {
    if (unless) {
      this.tell(name, `declares ${unless}`);
      return;
    }
    it(name, async () => {
      if (this.leavesOut(name)) return;
      const found = await this.state();
      try {
        await body();
        assert.deepEqual(await this.state(), found, 'the zone is as it was before');
      } catch (error) {
        // what is left of a check would make the next ones fail
        if (this.target.live) await this.restore(found).catch(() => undefined);
        throw error;
      }
    });
  }

  /** The stand-in, or none where a target is a real server. */
  get standIn(): StandIn | undefined {
    return this.target.standIn;
  }

  /** A check that makes the stand-in fail; real servers are left out, and that is told. */
  faulty(name: string, body: (standIn: StandIn) => Promise<void>, unless?: string | false): void {
    const stoodIn = async () => {
      if (!this.standIn) return this.tell('faults of the API', 'a real server, which does not fail when it is told to');
      await body(this.standIn);
    };
    this.check(name, stoodIn, unless);
  }

  /** Does something while another handler stands before that of the stand-in. */
  async through<T>(standIn: StandIn, wrap: (real: Handler) => Handler, body: () => Promise<T>): Promise<T> {
    const real = standIn.handler;
    standIn.handler = wrap(real);
    try {
      return await body();
    } finally {
      standIn.handler = real;
    }
  }

  /** Tells at the end what was not tried, and that each reason given was of use. */
  tellAtEnd(): void {
    it('every reason that the target gives is for something that the suite tries', () => {
      const unused = Object.keys(this.target.cannot ?? {}).filter((name) => !this.left.has(name));
      assert.deepEqual(unused, [], 'names in `cannot` that no check asked for');
    });
    afterAll(() => {
      const lines = [...this.left].map(([name, reason]) => `  ${name}: ${reason}`);
      if (lines.length)
        process.stdout.write(`contract: ${this.label}, not tried or proved refused:\n${lines.join('\n')}\n`);
    });
  }
}
