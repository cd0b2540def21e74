-- An installation of any size, made by the database itself: `bench/grown.mjs` fills in `{rows x}`, a table `s` of the
-- numbers `n` from 1 to x, with a time `at` that grows with them, and `{ten}`, a table `k` of the digits `d`;
-- `{count}`, how many domains, users, teams and tokens there are; `{each}`, records and audit entries for each of
-- them; `{large}`, records of the first domain. Ids follow the administrator's, who has 1.

INSERT INTO users (id, username, username_key, nickname, email, email_key, password_hash, role, status, language, totp_enabled, created_at)
SELECT n + 1, CONCAT('user-', n), CONCAT('user-', n), CONCAT('User ', n), CONCAT('user-', n, '@example.net'),
  CONCAT('user-', n, '@example.net'), {password}, 1, 1, 'en', FALSE, at FROM {rows count};

INSERT INTO sessions (sid, user_id, created_at, last_active_at, expires_at, ip, user_agent, method)
SELECT CONCAT('sid-', n), n + 1, at, at, {later}, '192.0.2.1', 'bench', 'password' FROM {rows count};

INSERT INTO passkeys (user_id, name, credential_key, credential_id, public_key, counter, transports, backed_up, created_at)
SELECT n + 1, 'key', CONCAT('key-', n), 'x', 'x', '0', '[]', FALSE, at FROM {rows count} WHERE n % 4 = 0;

INSERT INTO identities (user_id, provider, issuer, subject, name, created_at)
SELECT n + 1, 'work', 'https://issuer.example', CONCAT('s', n), 'x', at FROM {rows count} WHERE n % 4 = 1;

INSERT INTO teams (id, name, description, created_by, created_at)
SELECT n, CONCAT('team-', n), '', 1, at FROM {rows count};

INSERT INTO team_members (team_id, user_id, role, joined_at) SELECT n, n + 1, 'owner', at FROM {rows count};

INSERT INTO api_tokens (id, user_id, name, token_hash, narrowed, allowed_domains, allowed_services, max_role, is_active, created_at, last_used_at)
SELECT n, n + 1, CONCAT('token-', n), CONCAT('hash-', n), n % 10 = 0, CASE WHEN n % 10 = 0 THEN CONCAT('[', n, ']') ELSE '[]' END,
  '["*"]', 3, TRUE, at, at FROM {rows count};

INSERT INTO token_uses (token_id, day, network, hits)
SELECT n, CONCAT('2026-01-1', d), '192.0.2.0/24', 5 FROM {rows count} CROSS JOIN {ten};

INSERT INTO dns_accounts (id, provider, name, remark, credentials, created_at, updated_at)
SELECT n, CASE WHEN n % 3 = 0 THEN 'powerdns' ELSE 'zonefile' END, CONCAT('account-', n), '', '', at, at FROM {rows accounts};

INSERT INTO domains (id, name, account_id, remote_id, owner_id, status, remark, records_count, revision, expires_at, watch_certificates, created_at, synced_at)
SELECT n, CONCAT('zone-', 100000 + n, '.example'), 1 + n % 20, CONCAT('zone-', 100000 + n, '.example'),
  CASE WHEN n % 10 = 0 THEN n + 1 END, CASE WHEN n % 50 = 7 THEN 'missing' ELSE 'active' END, '', 0, n,
  CASE WHEN n % 50 = 8 THEN {soon} ELSE {later} END, n % 50 = 9, at, at FROM {rows count};

INSERT INTO domain_permissions (team_id, domain_id, domain_name, permission)
SELECT n, 1 + (n + 7 * d) % {count}, CONCAT('zone-', 100001 + (n + 7 * d) % {count}, '.example'),
  CASE WHEN n % 2 = 0 THEN 'write' ELSE 'read' END FROM {rows count} CROSS JOIN {ten};

-- one in a hundred is called alike in every domain; twenty have a word of their own
INSERT INTO dns_records (id, domain_id, remote_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at, created_at, search)
SELECT n, domain_id, remote_id, host, type, value, 600, 'default', FALSE, TRUE, remark, FALSE, at, at, CONCAT(host, '
', remark, '
', value) FROM (
  SELECT n, at, CASE WHEN n <= {large} THEN 1 ELSE 2 + n % ({count} - 1) END AS domain_id, CONCAT('r', n) AS remote_id,
    CASE WHEN n % 97 = 0 THEN 'www' ELSE CONCAT('host-', CASE WHEN n <= {large} THEN n ELSE n % 97 END) END AS host,
    CASE WHEN n % 10 < 7 THEN 'A' WHEN n % 10 < 9 THEN 'TXT' ELSE 'MX' END AS type,
    CASE WHEN n % 10 < 7 THEN CONCAT('10.1.', n % 250, '.', n % 199)
      WHEN n % 10 < 9 THEN CONCAT('v=spf1 include:_spf-', n, '.example.net include:other.example.org -all')
      ELSE CONCAT('mail-', n, '.example.net') END AS value,
    CASE WHEN n <= 20 THEN 'needle' ELSE '' END AS remark
  FROM {rows each * count}) r ORDER BY n;

INSERT INTO record_counts (domain_id, type, hits)
SELECT domain_id, type, COUNT(*) FROM dns_records GROUP BY domain_id, type;

UPDATE domains SET records_count = (SELECT SUM(hits) FROM record_counts c WHERE c.domain_id = domains.id) WHERE
  EXISTS (SELECT 1 FROM record_counts c WHERE c.domain_id = domains.id);

-- one in ten is of the first domain
INSERT INTO change_sets (id, domain_id, domain, door, actor_type, user_id, username, request_id, comment, atomic, background, whole, owner, state, revision, total, created_at, finished_at)
SELECT n, CASE WHEN n % 10 = 0 THEN 1 ELSE 1 + n % {count} END, 'x', CASE WHEN n % 100 = 1 THEN 'import' ELSE 'api' END, 'user', 1 + n % {count},
  CONCAT('user-', n % {count}), CONCAT('r', n), '', FALSE, FALSE, FALSE, '', CASE WHEN n <= 5 THEN 'unknown' ELSE 'done' END, n, 1, at, at FROM {rows 10 * count} ORDER BY n;

INSERT INTO record_changes (id, change_set_id, position, op, record_id, host, type, state, state_after, value_after, domain_id, version)
SELECT n, n, 0, 'create', n, CONCAT('host-', n % 97), 'A', CASE WHEN n <= 5 THEN 'unknown' ELSE 'applied' END, '{}', '192.0.2.1',
  CASE WHEN n % 10 = 0 THEN 1 ELSE 1 + n % {count} END, n FROM {rows 10 * count} ORDER BY n;

INSERT INTO versions (id, domain_id, version, change_set_id, inherited, created, updated, deleted, created_at)
SELECT n, CASE WHEN n % 10 = 0 THEN 1 ELSE 1 + n % {count} END, n, n, FALSE, 1, 0, 0, at FROM {rows 10 * count} ORDER BY n;

INSERT INTO plans (id, domain_id, state, comment, version, base, unchanged, warnings, user_id, username, created_at, expires_at)
SELECT n, 1 + n % {count}, 'applied', '', 1, '', 0, '', 1, 'admin', at, {later} FROM {rows 2 * count};

INSERT INTO plan_changes (plan_id, position, op, base, guards) SELECT n, 1, 'create', '', '' FROM {rows 2 * count};

-- their numbers fall, from where those of the service begin
INSERT INTO audit_logs (seq, created_at, actor_type, user_id, username, token_id, token_name, action, domain, domain_id, target, state_after, result, ip, user_agent, request_id, prev_hash, hash, change_set_id)
SELECT -n, at, CASE WHEN n % 2 = 0 THEN 'token' ELSE 'user' END, 2 + n % {count}, CONCAT('user-', 1 + n % {count}),
  CASE WHEN n % 2 = 0 THEN 1 + n % {count} END, CASE WHEN n % 2 = 0 THEN 'token' END,
  CASE WHEN n <= 20 THEN 'team.create' WHEN n % 20 = 0 THEN 'auth.login' WHEN n % 3 = 0 THEN 'record.create' ELSE 'record.update' END,
  CONCAT('zone-', 100001 + n % {count}, '.example'), 1 + n % {count}, CONCAT('{"type":"record","id":', n, ',"name":"www"}'),
  '{"host":"www","type":"A","value":"192.0.2.1","ttl":600}', CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'ok' END,
  CONCAT('192.0.2.', n % 200), 'bench', CONCAT('r', n), CONCAT('before-', n), CONCAT('hash-', n), n FROM {rows each * count} ORDER BY n;

INSERT INTO certificates (domain_id, host, valid_from, valid_to, checked_at)
SELECT n, CONCAT('h', d, '.zone-', 100000 + n, '.example'), at, CASE WHEN n % 50 = 9 THEN {soon} ELSE {later} END, {later}
  FROM {rows count} CROSS JOIN {ten} WHERE d < 5;

INSERT INTO delegations (domain_id, names, broken, checked_at, next_at)
SELECT n, '["ns1.example.net"]', CASE WHEN n % 50 = 10 THEN '["not_delegated"]' ELSE '[]' END, at, {later} FROM {rows count};

INSERT INTO registrations (name, expires_at, source, checked_at, next_at, failures)
SELECT CONCAT('zone-', 100000 + n, '.example'), {later}, 'rdap', at, {later}, 0 FROM {rows count};

INSERT INTO failovers (domain_id, enabled) SELECT n, FALSE FROM {rows count} WHERE n % 5 = 0;

INSERT INTO failover_rules (domain_id, position, version, name, config, hold, active, checks, switches, recent)
SELECT n, 0, 1, CONCAT('www.zone-', 100000 + n, '.example'),
  '{"host":"www","type":"A","primary":["192.0.2.1"],"backup":["192.0.2.2"],"check":{}}', n % 50 = 0, 'primary', '{}', 0, '[]'
  FROM {rows count} WHERE n % 5 = 0;

INSERT INTO trashed_domains (id, name, apart, account_id, content, deleted_at, purged_at, leaving)
SELECT n + 20000000, CONCAT('gone-', n, '.example'), '', 1 + n % 20, '{}', at, {later}, FALSE FROM {rows count} WHERE n % 5 = 0;

INSERT INTO trashed_records (id, domain_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at)
SELECT n + 20000000, n + 20000000, 'www', 'A', '192.0.2.1', 600, 'default', FALSE, TRUE, '', FALSE, at FROM {rows count} WHERE n % 5 = 0;

INSERT INTO jobs (name, kind, unique_key, payload, state, next_at, runs, tries, created_at, started_at, ended_at)
SELECT 'accounts.sync', 'once', CONCAT('#', n), '{}', CASE WHEN n <= 3 THEN 'failed' ELSE 'done' END, {today}, 1, 0, {today}, {today}, {today} FROM {rows count};

INSERT INTO deliveries (notice, channel, event, content, state, tries, next_at, until_at, created_at, sent_at, ended_at)
SELECT CONCAT('notice-', n), 'chat', 'sync.failed', '{}', 'sent', 1, at, at, {today}, {today}, {today} FROM {rows count};

INSERT INTO mails (recipient, template, content, state, tries, next_at, created_at, sent_at)
SELECT 'a@example.net', 'notice', '', 'sent', 1, at, {today}, {today} FROM {rows count};

INSERT INTO events_log (created_at, type, domain_id, data) SELECT {today}, 'records', n, '{}' FROM {rows count};

INSERT INTO kept_answers (id, caller, lease_until, content, size, request_id, expires_at)
SELECT CONCAT('kept-', n), CONCAT('token:', n), at, 'x', 1, CONCAT('r', n), {later} FROM {rows count};

INSERT INTO limits (name, hits, window_start, blocks, username, network)
SELECT CONCAT('limit-', n), 1, {today}, 0, CONCAT('user-', n), '192.0.2.0/24' FROM {rows count};

INSERT INTO hooks (token_id, domain_id, host, type, name, secret, created_at)
SELECT n, n, 'home', 'A', 'hook', 'x', at FROM {rows count} WHERE n % 5 = 0;

INSERT INTO tsig_keys (token_id, name, algorithm, secret, created_at)
SELECT n, CONCAT('key-', n), 'hmac-sha256', 'x', at FROM {rows count} WHERE n % 5 = 0;
