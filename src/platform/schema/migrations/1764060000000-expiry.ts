import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addColumns, columns, creator, foreign, index } from '../columns.js';

/**
 * Where the end of a registration is known from, who was reminded of it, and when certificates end. Dates from before
 * were set by hand. Safe to repeat.
 */
export class Expiry1764060000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const c = columns(runner);
    const optional = { isNullable: true };
    const no = runner.dataSource.options.type === 'postgres' ? 'false' : '0';
    await addColumns(runner, 'domains', [
      c.utc('expires_checked_at', optional),
      c.str('expiry_error', 255, optional),
      c.utc('expiry_told_for', optional),
      c.int('expiry_told_days', optional),
      c.bool('watch_certificates', { default: no }),
      c.int('certificate_port', { default: 443 }),
      c.str('expires_source', 8, optional),
    ]);
    // also where a start before died between the column and this: nobody has looked anything up yet
    await runner.query(
      "UPDATE domains SET expires_source = 'manual' WHERE expires_at IS NOT NULL AND expires_source IS NULL",
    );
    const create = creator(runner);
    await create(
      'registrations',
      [
        c.id(),
        c.str('name', 253),
        c.utc('expires_at', optional),
        c.str('source', 8, optional),
        c.utc('checked_at', optional),
        c.utc('next_at'),
        c.int('failures'),
        c.str('error', 255, optional),
      ],
      [index('registrations_name_uq', ['name'], true), index('registrations_next_ix', ['next_at'])],
    );
    await create('registry_servers', [
      c.str('server', 255, { isPrimary: true }),
      c.utc('next_at'),
      c.int('failures'),
      c.str('state', 12, optional),
      c.str('reason', 255, optional),
    ]);
    await create(
      'certificates',
      [
        c.id(),
        c.int('domain_id'),
        c.str('host', 253),
        c.utc('valid_from', optional),
        c.utc('valid_to', optional),
        c.str('issuer', 255, optional),
        c.str('error', 255, optional),
        c.utc('checked_at', optional),
        c.utc('told_for', optional),
        c.int('told_days', optional),
      ],
      [index('certificates_host_uq', ['domain_id', 'host'], true)],
      [foreign('certificates_domain_fk', 'domain_id', 'domains')],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['certificates', 'registry_servers', 'registrations']) await runner.dropTable(table);
    const added = ['expires_source', 'expires_checked_at', 'expiry_error', 'expiry_told_for', 'expiry_told_days'];
    for (const column of [...added, 'watch_certificates', 'certificate_port'])
      await runner.query(`ALTER TABLE domains DROP COLUMN ${column}`);
  }
}
