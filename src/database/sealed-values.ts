import { existsSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import { StartRefused } from '../common/start-refused.js';
import type { Config } from '../config/config.js';
import { CONFIG, SECRET_BOX } from '../config/config.module.js';
import { keyFile, keyIdOf, keyIds, readKeys, type SecretBox } from '../config/secret-box.js';

/** Characters of a sealed text that tell its key. */
export const SEALED_HEAD = 12;

/**
 * What is kept encrypted in the database for long, as the rooms that keep it tell. Challenges and mails that wait are
 * not of it: they end by themselves. A start looks at these values, by the ids of their keys, and not at a value that
 * was sealed for the look alone: that would say nothing of what an older or a newer key has encrypted, and databases of
 * before would have none.
 */
@Injectable()
export class SealedValues {
  private readonly kept = new Map<string, () => Promise<(string | null | undefined)[]>>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Call it in a constructor: the database may be opened right after.
   * @param what the values in words, of which one is told with their number
   * @param heads the first characters of each value; an absent one counts for nothing
   */
  keep(what: string, heads: () => Promise<(string | null | undefined)[]>): void {
    this.kept.set(what, heads);
  }

  /**
   * Makes the key of a fresh installation, or finds that what the database holds can be decrypted.
   * @throws StartRefused
   */
  async check(): Promise<void> {
    const ids = new Set<string>();
    const words: string[] = [];
    for (const [what, heads] of this.kept) {
      const unknown = (await heads()).filter((head) => typeof head === 'string' && !this.box.knows(head)) as string[];
      for (const head of unknown) ids.add(keyIdOf(head));
      if (unknown.length) words.push(`${what} (${unknown.length})`);
    }
    if (ids.size) throw new StartRefused(this.advice([...ids], words.join(', ')), SHOWN);
    this.box.prepare();
  }

  private advice(ids: string[], what: string): string {
    const { secretKeys, dataDir } = this.config;
    const file = keyFile(dataDir);
    const key = ids.length > 1 ? `the keys ${ids.join(' and ')}` : `the key ${ids[0]}`;
    const held = `The database holds secrets that are encrypted with ${key}: ${what}.`;
    const restore = 'Restore it from the backup';
    if (!secretKeys.length && !existsSync(file))
      return `${held} The key file ${file} is missing. ${restore}, or set SECRET_KEY as it was; no new key was made`;
    if (!secretKeys.length)
      return (
        `${held} The key file ${file} has another one. ` +
        `${restore}, or add the old key on a line below, or set SECRET_KEY as it was`
      );
    if (existsSync(file) && ids.every((id) => keyIds(readKeys([], dataDir)).includes(id)))
      return (
        `${held} That is in ${file}, but SECRET_KEY is set, which counts instead. ` +
        'Unset it, or add the key of the file to it after a comma'
      );
    return `${held} SECRET_KEY has another one. Set it as it was, or add the old key to it after a comma`;
  }
}

const SHOWN = 'The database holds secrets that the key of this installation cannot decrypt; the log says which';
