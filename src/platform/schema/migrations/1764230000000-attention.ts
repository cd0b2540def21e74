import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type AddedIndices, addIndices, dropIndices } from '../columns.js';

const INDICES: AddedIndices = [
  ['domains', 'domains_expires_ix', ['expires_at']],
  ['domains', 'domains_status_ix', ['status']],
  ['certificates', 'certificates_end_ix', ['valid_to']],
];

/** What ends soon or is gone, over all domains. Safe to repeat. */
export class Attention1764230000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return addIndices(runner, INDICES);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropIndices(runner, INDICES);
  }
}
