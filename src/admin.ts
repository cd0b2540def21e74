import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Role } from './access/access.js';
import { DnsAccountsRepository } from './accounts/dns-accounts.repository.js';
import { AccountPauses } from './accounts/pauses.service.js';
import { ProviderConnections } from './accounts/provider-connections.js';
import { ProviderSessionsRepository } from './accounts/provider-sessions.repository.js';
import { ProviderSessions } from './accounts/provider-sessions.service.js';
import { AuditAcceptance } from './audit/accept.service.js';
import { AuditModule } from './audit/audit.module.js';
import { AuditService } from './audit/audit.service.js';
import { checkpointFile, readCheckpoint } from './audit/checkpoint-file.service.js';
import { checkExport, parseCheckpoints } from './audit/export-check.js';
import { PasskeysModule } from './auth/passkeys/passkeys.module.js';
import { PasskeysService } from './auth/passkeys/passkeys.service.js';
import { PasswordModule } from './auth/password/password.module.js';
import { PasswordService } from './auth/password/password.service.js';
import { SecondFactorModule } from './auth/second-factor/second-factor.module.js';
import { SecondFactorService } from './auth/second-factor/second-factor.service.js';
import { SessionsModule } from './auth/sessions/sessions.module.js';
import { SigningKey } from './auth/sessions/signing-key.js';
import { TsigSecretsModule } from './doors/rfc2136/tsig-secrets.js';
import { HookSecretsModule } from './doors/webhook/hook-secrets.js';
import { ENTITIES } from './entities.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { FirstAdministrator } from './init/first-administrator.service.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { AppError } from './platform/common/errors.js';
import { randomHex } from './platform/common/hash.js';
import { createLogger } from './platform/common/logger.js';
import { LoggerModule } from './platform/common/logger.module.js';
import { StartRefused } from './platform/common/start-refused.js';
import { readChoice } from './platform/config/choice-file.js';
import { type Config, parseConfig, readEnvironment } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { keyFile, keyIds, readKeys } from './platform/config/secret-box.js';
import { AppDataSource } from './platform/database/app-data-source.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { DatabaseService } from './platform/database/database.service.js';
import { Db } from './platform/database/db.js';
import { DumpError } from './platform/dump/format.js';
import { restore } from './platform/dump/restore.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import { MetricsModule } from './platform/metrics/metrics.module.js';
import { TracesModule } from './platform/traces/traces.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SettingsService } from './settings/settings.service.js';
import { BackupsService } from './system/backups.service.js';
import { KeysService, type KeyUse } from './system/keys.service.js';
import { LoginsService } from './system/logins.service.js';
import { PauseService } from './system/pause.service.js';
import { SystemModule } from './system/system.module.js';
import { hashingFor, Passwords } from './users/passwords.js';
import { UsersModule } from './users/users.module.js';
import { UsersService } from './users/users.service.js';

const USAGE = `Administration of this installation, for who holds the machine. Run it where the service runs, with the same environment.

  npm run admin -- reset-password <username>   sets a new password, prints it once, ends all sessions
  npm run admin -- unlock <username>           takes away all locks after failed logins
  npm run admin -- disable-2fa <username>      removes the authenticator app, the recovery codes and the passkeys
  npm run admin -- create-admin <username>     makes a super administrator, prints the password once
  npm run admin -- reset-security              puts limits, networks and the like (settings, security) back to the defaults
  npm run admin -- audit-verify <export> [<checkpoints>]
                                               checks an export (json or ndjson, without filters) of the audit log without the
                                               database, against checkpoints that were kept elsewhere, else the one in
                                               the data directory
  npm run admin -- audit-accept                signs the audit log as it is, after a restoration: checkpoints begin anew

  npm run admin -- backup                      writes a backup into DATA_DIR/backups
  npm run admin -- restore <file> [--force]    puts a backup into the database of this configuration, of any kind; the service
                                               must not run. With --force what the database holds is lost
  npm run admin -- resume                      lets a restored or copied database work: jobs run, and providers are written
                                               to; until then it is paused. Its original must not run any more
  npm run admin -- keys                        which key the secrets in the database are encrypted with
  npm run admin -- rotate-key                  encrypts them with a new one, while the service runs
  npm run admin -- drop-unreadable [--yes]     lists the secrets whose key was lost; with --yes drops them, to be entered anew
  npm run admin -- rotate-jwt-key              signs logins with a new secret; nobody is signed out
`;

@Module({
  imports: [
    DatabaseModule.forRoot(ENTITIES),
    JobsModule,
    MetricsModule,
    TracesModule,
    AuditModule,
    SettingsModule,
    NotificationsModule,
    UsersModule,
    SessionsModule,
    PasswordModule,
    SecondFactorModule,
    PasskeysModule,
    SystemModule,
    IdempotencyModule,
    HookSecretsModule,
    TsigSecretsModule,
  ],
  // accounts are needed only to re-encrypt their credentials
  providers: [
    FirstAdministrator,
    DnsAccountsRepository,
    AccountPauses,
    ProviderSessionsRepository,
    ProviderSessions,
    ProviderConnections,
  ],
})
class AdminModule {}

/** Wrong arguments, or an unknown user. */
class UsageError extends Error {}

/** Commands without a user name. */
const NAMELESS = [
  'reset-security',
  'audit-accept',
  'backup',
  'resume',
  'keys',
  'drop-unreadable',
  'rotate-key',
  'rotate-jwt-key',
];

/** Commands that work when a key was lost. */
const ABOUT_KEYS = ['keys', 'drop-unreadable'];

/** Runs without the database. @throws UsageError when the export was modified */
async function auditVerify(path: string, checkpoints: string | undefined, dataDir: string): Promise<string> {
  const own = checkpoints === undefined ? await readCheckpoint(checkpointFile(dataDir)) : null;
  const known = checkpoints === undefined ? (own ? [own] : []) : parseCheckpoints(readFileSync(checkpoints, 'utf8'));
  const { first, last, wrong, confirmed } = await checkExport(path, known, !own);
  if (wrong) throw new UsageError(`Broken at entry ${wrong.seq}: ${wrong.reason}.`);
  if (own && own.seq > last)
    throw new UsageError(
      `Entries ${first} to ${last} are a whole chain, but the checkpoint of ${dataDir} is of entry ${own.seq}: entries ` +
        `${last + 1} to ${own.seq} are missing, or came after the export. Export again, or name a checkpoint of its time.`,
    );
  const keys = [...new Set(known.map((checkpoint) => checkpoint.public_key))].join(', ');
  const against = confirmed
    ? `It agrees with ${confirmed} checkpoint${confirmed === 1 ? '' : 's'}, signed with the key ${keys}.`
    : 'There is no checkpoint of these entries to hold it against: whether all of it was written anew cannot be told.';
  return `Entries ${first} to ${last} are a whole chain. ${against}`;
}

/** Runs before the database is opened: it may be empty or missing. */
async function restoreFrom(config: Config, [file, option, ...rest]: string[]): Promise<string> {
  if (!file || rest.length || (option && option !== '--force')) throw new UsageError(USAGE);
  const choice = config.database ?? readChoice(config.dataDir);
  if (!choice) throw new UsageError('Say which database to restore into: DATABASE_URL, for example sqlite:zoneward.db');
  const own = join(config.dataDir, 'backups', basename(file));
  const path = !existsSync(file) && existsSync(own) ? own : resolve(file);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const source = new AppDataSource(ENTITIES, config.databaseTimeoutMs);
  const { header, rows } = await restore(source, choice, path, option === '--force');
  const here = keyIds(readKeys(config.secretKeys, config.dataDir));
  const missing = header.keys.filter((id) => !here.includes(id));
  const words = [
    `${rows} rows of ${header.created_at} (version ${header.version}, ${header.database}) are in the database.`,
    'It is paused: no jobs run, no failover, and nothing is written to providers until `npm run admin -- resume`.',
    'Everybody signs in again; what was revoked after that moment is valid again: look through API tokens and users.',
  ];
  if (missing.length)
    words.push(
      `The key ${missing.join(' and ')} is missing here: before the start, set SECRET_KEY, or put ` +
        `${keyFile(config.dataDir)}, as it was where the backup was made.`,
    );
  return words.join('\n');
}

function keyTable(keys: KeyUse[]): string {
  const words = { current: 'encrypts', older: 'decrypts', missing: 'MISSING' };
  return keys
    .map(({ id, state, values }) => {
      const used = Object.entries(values).map(([what, count]) => `    ${count} ${what}`);
      return [`${id}  ${words[state]}`, ...(used.length ? used : ['    nothing: it can be removed'])].join('\n');
    })
    .join('\n')
    .replace(/(encrypts\n {4}nothing): it can be removed/, '$1');
}

async function main([command, username = '', ...rest]: string[]): Promise<void> {
  if (!command || command === 'help' || command === '--help') return void process.stdout.write(USAGE);
  if (command === 'restore') {
    const config = parseConfig(readEnvironment(process.cwd()));
    return void process.stdout.write(`${await restoreFrom(config, [username, ...rest])}\n`);
  }
  const offline = command === 'audit-verify';
  const drops = command === 'drop-unreadable' && (!username || username === '--yes');
  if ((!drops && Boolean(username) === NAMELESS.includes(command)) || rest.length > (offline ? 1 : 0))
    throw new UsageError(USAGE);
  const config = parseConfig(readEnvironment(process.cwd()));
  if (offline) return void process.stdout.write(`${await auditVerify(username, rest[0], config.dataDir)}\n`);
  const root = {
    module: AdminModule,
    imports: [LoggerModule.forRoot(createLogger('error')), ConfigModule.forRoot(config)],
  };
  const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  try {
    const database = app.get(DatabaseService);
    await database.start(ABOUT_KEYS.includes(command));
    if (!database.open) throw new UsageError('The database is not chosen yet, or is down.');
    const db = app.get(Db);
    const users = app.get(UsersService);
    const known = async () => {
      const user = await users.find({ username_key: username.toLowerCase() });
      if (!user) throw new UsageError(`There is no user ${username}.`);
      return user;
    };
    const password = () => randomHex(12).replace(/(.{6})(?=.)/g, '$1-');
    const commands: Record<string, () => Promise<string>> = {
      'reset-password': async () => {
        const user = await known();
        const fresh = password();
        const hash = await app.get(Passwords).hash(fresh, hashingFor('system'));
        const change = { action: 'auth.password_reset', actor: 'system' } as const;
        await db.transaction((manager) => app.get(PasswordService).set(manager, user, hash, change));
        return `New password of ${user.username}: ${fresh}\nAll sessions were ended.`;
      },
      unlock: async () => {
        const count = await app.get(LoginsService).unlock(username, 'system');
        return `${count} lock${count === 1 ? '' : 's'} of ${username} taken away.`;
      },
      'disable-2fa': async () => {
        const user = await known();
        const passkeys = await db.transaction(async (manager) => {
          // a user without a password could not sign in without passkeys
          const removed = user.password_hash ? await app.get(PasskeysService).removeAll(manager, user.id) : 0;
          if (!removed && !user.totp_enabled) throw new UsageError(`${user.username} has no second factor.`);
          await app.get(SecondFactorService).remove(manager, user.id);
          const target = { type: 'user', id: user.id, name: user.username };
          const after = { passkeys_removed: removed };
          await app.get(AuditService).write(manager, 'system', { action: 'auth.2fa_disable', target, after });
          return removed;
        });
        return `${user.username} signs in without a second factor now; ${passkeys} passkeys were removed.`;
      },
      'reset-security': async () => {
        await app.get(SettingsService).resetSecurity('system');
        return 'The security settings are the defaults again.';
      },
      'audit-accept': async () =>
        `The audit log is signed as it is, up to entry ${await app.get(AuditAcceptance).accept()}.`,
      backup: async () => {
        const { file, size, sha256 } = await app.get(BackupsService).create('system');
        return `${join(config.dataDir, 'backups', file)}\n${size} bytes, SHA-256 ${sha256}`;
      },
      resume: async () => {
        await app.get(PauseService).resume('system');
        return 'It is not paused any more: jobs run, and providers are written to.';
      },
      keys: async () => keyTable(await app.get(KeysService).list()),
      'drop-unreadable': () => app.get(KeysService).dropUnreadable(username === '--yes'),
      'rotate-key': () => app.get(KeysService).rotate(),
      'rotate-jwt-key': async () => {
        const until = await app.get(SigningKey).rotate();
        return `Logins are signed with a new secret. The one before still verifies its own, until ${until}.`;
      },
      'create-admin': async () => {
        const fresh = password();
        const input = { username, password: fresh };
        // the first user is created together with the secret that signs logins
        if (await users.someExist()) await users.create(input, Role.Super, 'user.create', 'system');
        else await app.get(FirstAdministrator).create(input, 'system');
        return `Password of ${username}: ${fresh}`;
      },
    };
    const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
    if (!run) throw new UsageError(`There is no command ${command}.\n\n${USAGE}`);
    process.stdout.write(`${await run()}\n`);
  } finally {
    await app.close();
  }
}

/** Settles when the command has ended, with or without success. */
export const finished = main(process.argv.slice(2)).catch((error) => {
  const plain = [UsageError, AppError, StartRefused, DumpError].some((kind) => error instanceof kind);
  const words = plain ? (error as Error).message : String(error);
  process.stderr.write(`${words}\n`);
  process.exitCode = 1;
});
