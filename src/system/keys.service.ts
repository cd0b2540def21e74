import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { sleep } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG, SECRET_BOX } from '../platform/config/config.module.js';
import { addKey, keyFile, keyIdOf, type SecretBox } from '../platform/config/secret-box.js';
import { Db } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { JobReader } from '../platform/jobs/job-reader.service.js';

const LOCK = 'system.rotate-key';
/** ms between two passes: values that were sealed with the old key just before are stored by then */
const PAUSE_MS = 1000;

/** A key, and how many values it has sealed. */
export interface KeyUse {
  id: string;
  /** `current` seals; `older` only opens; `missing` is not here */
  state: 'current' | 'older' | 'missing';
  /** numbers of values, by what they are */
  values: Record<string, number>;
}

/** The keys that secrets in the database are encrypted with. */
@Injectable()
export class KeysService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly sealed: SealedValues,
    private readonly leases: Leases,
    private readonly db: Db,
    private readonly jobs: JobReader,
    private readonly audit: AuditService,
  ) {}

  /** All keys of this machine, and those that only stored values name. */
  async list(): Promise<KeyUse[]> {
    const counts = await this.sealed.count();
    const here = this.box.ids();
    return [...new Set([...here, ...counts.keys()])].map((id) => ({
      id,
      state: id === here[0] ? 'current' : here.includes(id) ? 'older' : 'missing',
      values: Object.fromEntries(counts.get(id) ?? []),
    }));
  }

  /**
   * Adds a new key, unless older ones are still in use, and seals with the current key what older ones sealed. The
   * service goes on meanwhile; the next call continues an interrupted rotation.
   * @returns a report for the operator
   */
  rotate(): Promise<string> {
    return this.leases.hold([LOCK], 0, async () => {
      const isUsed = ({ state, values }: KeyUse) => state === 'older' && Object.keys(values).length > 0;
      if (!(await this.list()).some(isUsed)) {
        if (this.config.secretKeys.length) return ADVICE(randomBytes(32).toString('hex'));
        addKey(this.config.dataDir);
      }
      let renewed = 0;
      let unreadable = 0;
      // until two passes in a row find nothing
      for (let clean = 0; clean < 2; ) {
        const pass = await this.sealed.renewAll();
        renewed += pass.renewed;
        unreadable = pass.unreadable;
        clean = pass.renewed ? 0 : clean + 1;
        if (clean < 2) await sleep(PAUSE_MS);
      }
      const keys = await this.list();
      const [current] = keys as [KeyUse];
      const after = { key: current.id, renewed, unreadable };
      await this.audit.append('system', { action: 'system.rotate_key', target: null, after });
      return this.report(keys, renewed, unreadable);
    });
  }

  /**
   * Drops the values that no key here can read; they have to be entered anew.
   * @param confirmed false: they are only listed
   * @returns a report for the operator
   * @throws AppError 409001 while a service runs: it could not have started without the key
   */
  async dropUnreadable(confirmed: boolean): Promise<string> {
    const lost = await this.sealed.lost();
    if (!lost.length) return 'All secrets can be read.';
    const lines = lost.map(({ what, of, head }) => `  ${keyIdOf(head)}  ${what}: ${of}`);
    if (!confirmed) return ['No key that is here can read:', ...lines, '', WARNING].join('\n');
    if (await this.jobs.someBegan()) throw errors.conflict('service_runs');
    // where there is no key at all, replacements of lost values need one
    this.box.prepare();
    const keys = [...new Set(lost.map(({ head }) => keyIdOf(head)))];
    await this.db.transaction(async (manager) => {
      for (const { drop } of lost) await drop(manager);
      const after = { keys, dropped: lost.map(({ what, of }) => `${what}: ${of}`) };
      await this.audit.write(manager, 'system', { action: 'system.drop_unreadable', target: null, after });
    });
    return ['Dropped:', ...lines, '', AFTERWARDS].join('\n');
  }

  private report(keys: KeyUse[], renewed: number, unreadable: number): string {
    const words = [`${renewed} secret${renewed === 1 ? '' : 's'} sealed anew with the key ${keys[0]?.id}.`];
    if (unreadable) words.push(`${unreadable} could not be read: npm run admin -- keys tells which key is missing.`);
    const old = keys.filter(({ state }) => state === 'older');
    const unused = old.filter(({ values }) => !Object.keys(values).length).map(({ id }) => id);
    if (old.length > unused.length) words.push('Some are still sealed with an older key; run this again.');
    else if (unused.length) {
      const where = this.config.secretKeys.length
        ? 'Take it out of SECRET_KEY on every replica'
        : `Take its line, any but the first, out of ${keyFile(this.config.dataDir)}`;
      words.push(
        `No longer in use: ${unused.join(', ')}. ${where} when npm run admin -- keys still says so tomorrow, ` +
          'and keep it with the backups that were made before today: they need it.',
      );
    }
    return words.join('\n');
  }
}

const WARNING = `Nothing was changed. Look for the key first: in backups, on other replicas, in what sets SECRET_KEY.
When it is lost for good, stop the service, and with --yes these values are dropped and have to be entered anew.`;

const AFTERWARDS = `Start the service; everybody signs in again where the secret that signs logins was among these.
- accounts: their last_error tells which need their credentials anew (PUT /api/accounts/:id)
- settings: enter the password of mail, client secrets and channels anew, and switch the channels on
- users whose authenticator app is listed sign in with a recovery code, or after disable-2fa <username>
- the audit log, where its key is listed: npm run admin -- audit-accept, once`;

const ADVICE = (fresh: string) => `All secrets are sealed with the first key of SECRET_KEY. A new key for it:

  ${fresh}

1. Put it behind the others, after a comma, and restart all replicas: from now on each of them can read it.
2. Put it in front, and restart them again: what is stored from now on is sealed with it.
3. Run this again: what is stored already is sealed anew.`;
