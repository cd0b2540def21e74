import { Injectable } from '@nestjs/common';
import type { AuditFilter, AuditList, AuditQuery, AuditView } from '../../audit/audit.dto.js';
import { AuditReader } from '../../audit/audit-reader.service.js';
import { SettingsService } from '../../settings/settings.service.js';

/** The log as its routes show it: days begin in the time zone of the settings. */
@Injectable()
export class AuditLogService {
  constructor(
    private readonly reader: AuditReader,
    private readonly settings: SettingsService,
  ) {}

  /** @throws AppError 400001 */
  async list(query: AuditQuery): Promise<AuditList & { page: number; limit: number }> {
    return this.reader.list(query, await this.zone());
  }

  /** @throws AppError 404001 */
  get(id: number): Promise<AuditView> {
    return this.reader.get(id);
  }

  /** All matching entries, some at a time. @throws AppError 400001, before the first ones */
  async *all(query: AuditFilter): AsyncGenerator<AuditView[]> {
    yield* this.reader.all(query, await this.zone());
  }

  private async zone(): Promise<string> {
    return (await this.settings.read('general')).timezone;
  }
}
