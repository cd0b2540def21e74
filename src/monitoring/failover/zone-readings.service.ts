import { Injectable } from '@nestjs/common';
import { RecordSyncService } from '../../changes/in-doubt/record-sync.service.js';
import type { OpenDomain } from '../../domains/domain-policy.js';

/** A reading of a zone that is in flight, and the next one, which has not begun. */
interface Readings {
  current: Promise<void>;
  next: Promise<void> | null;
}

/** Reads zones at their providers; callers that ask for the same zone at a time share a reading. */
@Injectable()
export class ZoneReadings {
  private readonly readings = new Map<number, Readings>();

  constructor(private readonly sync: RecordSyncService) {}

  /** Brings the cache of a zone up to date, by a reading that begins after this call. */
  refresh(domain: OpenDomain): Promise<void> {
    const line = this.readings.get(domain.id) ?? { current: Promise.resolve(), next: null };
    this.readings.set(domain.id, line);
    line.next ??= line.current
      .catch(() => undefined)
      .then(async () => {
        line.next = null;
        line.current = this.sync.refresh(domain, 'system').then(() => undefined);
        await line.current.finally(() => line.next ?? this.readings.delete(domain.id));
      });
    return line.next;
  }
}
