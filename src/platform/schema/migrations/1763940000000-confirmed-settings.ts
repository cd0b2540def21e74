import type { MigrationInterface, QueryRunner } from 'typeorm';

type Values = Record<string, unknown>;

/** As stored before: the role of who changed the document last stood for all of its fields. */
interface OldRow {
  values: Values;
  by_role?: number;
}

const SMTP = ['host', 'port', 'security', 'username'];
const NO_SMTP = { host: '', port: 587, security: 'starttls', username: '', password: null };
const OF_PROVIDER = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'subject_field',
  'client_id',
];

/** `limit` with one number brought inside its bounds; 0 was: no limit. */
function bounded(values: Values, group: string, key: string, min: number, max: number): void {
  const limit = values[group] as Values | undefined;
  const value = limit?.[key];
  if (typeof value === 'number') values[group] = { ...limit, [key]: Math.min(max, Math.max(min, value || max)) };
}

/** What a document waits for, if an administrator changed it last. */
function waitingIn(name: string, values: Values): string[] {
  if (name === 'general') return values.base_url ? ['base_url'] : [];
  if (name === 'smtp') return values.host ? SMTP : [];
  const providers = (values.providers ?? []) as Values[];
  return providers.flatMap((p) => OF_PROVIDER.filter((field) => p[field]).map((field) => `${p.key}.${field}`));
}

function upgraded(name: string, { values, by_role = 3 }: OldRow): object {
  if (name === 'security') {
    bounded(values, 'login_limit', 'max_failures', 3, 20);
    bounded(values, 'rate_limits', 'login', 1, 100);
    return { values, super: by_role >= 3 ? values : {} };
  }
  const waiting = by_role >= 3 ? [] : waitingIn(name, values);
  if (!waiting.length) return { values };
  const confirmed = { general: { base_url: null }, smtp: NO_SMTP }[name];
  return { values, waiting, ...(confirmed && { confirmed }) };
}

/**
 * Settings remember field by field what waits for a super administrator, in place of one role for a whole document;
 * limits get bounds. What was stored last by an administrator waits. Safe to repeat.
 */
export class ConfirmedSettings1763940000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await rewrite(runner, (name, row) => ('by_role' in row ? upgraded(name, row as unknown as OldRow) : row));
  }

  async down(runner: QueryRunner): Promise<void> {
    await rewrite(runner, (name, { values, ...row }) => {
      const mine = name === 'security' ? JSON.stringify(row.super) === JSON.stringify(values) : !row.waiting;
      return { values, by_role: mine ? 3 : 2 };
    });
  }
}

async function rewrite(runner: QueryRunner, change: (name: string, row: Values) => object): Promise<void> {
  const [first, second] = runner.dataSource.options.type === 'postgres' ? ['$1', '$2'] : ['?', '?'];
  const rows = (await runner.query(
    `SELECT name, content FROM settings WHERE name IN ('general', 'security', 'smtp', 'oauth')`,
  )) as { name: string; content: string }[];
  for (const { name, content } of rows) {
    const next = JSON.stringify(change(name, JSON.parse(content)));
    await runner.query(`UPDATE settings SET content = ${first} WHERE name = ${second}`, [next, name]);
  }
}
