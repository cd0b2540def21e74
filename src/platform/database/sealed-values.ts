import { existsSync } from 'node:fs';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { StartRefused } from '../common/start-refused.js';
import type { Config } from '../config/config.js';
import { CONFIG, SECRET_BOX } from '../config/config.module.js';
import { keyFile, keyIdOf, keyIds, readKeys, type SecretBox } from '../config/secret-box.js';

/** Characters of a sealed text that tell its key. */
export const SEALED_HEAD = 12;

/** What a pass over sealed values came to. */
export interface Renewal {
  /** sealed with the current key now */
  renewed: number;
  /** whose key is not here */
  unreadable: number;
}

/** A value that no key here can read. */
export interface Lost {
  /** whose it is, or what it is for, in words */
  of: string;
  /** its first characters */
  head: string;
  /** Takes it away, where it still stands. */
  drop(manager: EntityManager): Promise<unknown>;
}

/** Sealed values of one sort. */
export interface Sealed {
  /** the first characters of each value; an absent one counts for nothing */
  heads(): Promise<(string | null | undefined)[]>;
  /** Seals with the current key what another one has sealed, by compare-and-set: changes of others stand. */
  renew(): Promise<Renewal>;
  /** All of them, by whose they are, with what takes one away. */
  each(): Promise<Lost[]>;
  /** they end by themselves, soon: a start does not ask for their key */
  fleeting?: boolean;
}

/** values that are read at once when they are sealed anew */
const BATCH = 100;

/**
 * What is kept encrypted in the database, as the rooms that keep it tell. A start looks at these values, by the ids of
 * their keys, and not at a value that was sealed for the look alone: that would say nothing of what an older or a newer
 * key has encrypted, and databases of before would have none.
 */
@Injectable()
export class SealedValues {
  private readonly kept = new Map<string, Sealed>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Call it in a constructor: the database may be opened right after.
   * @param what the values in words, of which one is told with their number
   */
  keep(what: string, sealed: Sealed): void {
    this.kept.set(what, sealed);
  }

  /** How many values of which sort each key has sealed. */
  async count(): Promise<Map<string, Map<string, number>>> {
    const keys = new Map<string, Map<string, number>>();
    for (const [what, { heads }] of this.kept)
      for (const head of await heads()) {
        if (!head) continue;
        const of = keys.get(keyIdOf(head)) ?? new Map<string, number>();
        keys.set(keyIdOf(head), of.set(what, (of.get(what) ?? 0) + 1));
      }
    return keys;
  }

  /** Those that no key here can read, by what they are. */
  async lost(): Promise<(Lost & { what: string })[]> {
    const all: (Lost & { what: string })[] = [];
    for (const [what, { each }] of this.kept)
      for (const one of await each()) if (!this.box.knows(one.head)) all.push({ ...one, what });
    return all;
  }

  /** One pass over all values that another key than the current one has sealed. */
  async renewAll(): Promise<Renewal> {
    const all = { renewed: 0, unreadable: 0 };
    for (const { renew } of this.kept.values()) {
      const { renewed, unreadable } = await renew();
      all.renewed += renewed;
      all.unreadable += unreadable;
    }
    return all;
  }

  /** A sealed text, sealed with the current key; null when that is what it is, or its key is not here. */
  renewed(sealed: string, context: string): string | null {
    if (sealed.startsWith(this.box.head()) || !this.box.knows(sealed)) return null;
    return this.box.encrypt(this.box.decrypt(sealed, context), context);
  }

  /**
   * Seals a column anew.
   * @param behind rows behind an id (at first: 0 or ''), in its order, which do not begin with this head; at most so
   *   many
   * @param put stores the new text where the old one still stands, and says how many rows that changed
   */
  async renewColumn<Id extends string | number>(
    context: string,
    first: NoInfer<Id>,
    behind: (id: Id, head: string, limit: number) => Promise<{ id: Id; sealed: string }[]>,
    put: (id: Id, old: string, fresh: string) => Promise<number>,
  ): Promise<Renewal> {
    const done = { renewed: 0, unreadable: 0 };
    for (let last = first; ; ) {
      const rows = await behind(last, this.box.head(), BATCH);
      for (const { id, sealed } of rows) {
        const fresh = this.renewed(sealed, context);
        if (fresh) done.renewed += await put(id, sealed, fresh);
        else if (!this.box.knows(sealed)) done.unreadable += 1;
        last = id;
      }
      if (rows.length < BATCH) return done;
    }
  }

  /**
   * Makes the key of a fresh installation, or finds that what the database holds can be decrypted.
   * @throws StartRefused
   */
  async check(): Promise<void> {
    const ids = new Set<string>();
    const words: string[] = [];
    for (const [what, { heads, fleeting }] of this.kept) {
      if (fleeting) continue;
      const unknown = (await heads()).filter((head) => head && !this.box.knows(head)) as string[];
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
