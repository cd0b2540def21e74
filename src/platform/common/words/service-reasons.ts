import { say } from './words.js';

/** What is not there, not of the right form, or goes wrong by itself. */
export const SERVICE_REASONS = {
  invalid_fields: say('validation', 'Some fields are wrong', '部分字段有误'),
  changes_do_not_fit: say(
    'validation',
    'Nothing was changed: {wrong} of {total} changes do not fit; {at}: {words}',
    '未做任何更改：{total} 项更改中有 {wrong} 项不适用；{at}：{words}',
  ),
  not_found: say('notFound', '{what} does not exist', '{what}不存在'),
  method_not_allowed: say('method', 'The path has no {method}, but {methods}', '此路径不支持 {method}，支持 {methods}'),
  body_too_large: say('tooLarge', 'The request body is larger than {max}', '请求正文超过 {max}'),
  changes_not_applied: say(
    'unapplied',
    '{lost} of {total} changes were not applied',
    '{total} 项更改中有 {lost} 项未生效',
  ),

  internal: say('internal', 'Internal error', '内部错误'),
  backup_failed: say('internal', 'The backup failed: {why}', '备份失败：{why}'),

  provider_auth: say('provider', '{words}', '提供商拒绝了凭据：{words}'),
  provider_not_found: say('provider', '{words}', '提供商处不存在：{words}'),
  provider_rate_limit: say('provider', '{words}', '提供商限制了请求频率：{words}'),
  provider_rejected: say('provider', '{words}', '提供商拒绝了请求：{words}'),
  provider_unavailable: say('provider', '{words}', '提供商不可用：{words}'),
  provider_changed: say('provider', '{words}', '提供商处的状态已改变：{words}'),
  overdue: say(
    'provider',
    'Somebody else is changing this right now; try again',
    '他人正在更改，未能在时限内开始，请重试',
  ),

  no_mail_server: say(
    'unsupported',
    'No mail server is set up, or none that a super administrator confirmed; ask one',
    '未设置邮件服务器，或未经超级管理员确认；请联系超级管理员',
  ),
  zones_not_creatable: say(
    'unsupported',
    '{provider} cannot create zones; create it there and synchronise',
    '{provider} 不支持创建区域；请在那里创建后同步',
  ),

  ending: say('notReady', 'The service is ending', '服务正在停止'),
  stopping: say('notReady', 'The service is stopping', '服务即将停止'),
  about_to_end: say('notReady', 'The service is about to end; try again', '服务即将结束，请重试'),
  replica_ending: say('notReady', 'The service is ending; ask another replica', '服务正在停止；请使用另一副本'),
  halted: say('notReady', '{words}', '此实例已暂停，不做任何更改：{words}'),
  schema_unfit: say('notReady', '{words}', '数据库结构与此程序不符：{words}'),
  database_down: say('notReady', 'The database is down; trying again', '数据库不可用，正在重试'),
  database_down_because: say(
    'notReady',
    'The database is down ({why}); trying again',
    '数据库不可用（{why}），正在重试',
  ),
  database_slow: say('notReady', 'The database takes too long; try again', '数据库响应过慢，请重试'),
  database_silent: say('notReady', 'The database does not answer; trying again', '数据库没有响应，正在重试'),
  database_unwritable: say('notReady', '{why}; try again later', '数据库无法写入（{why}），请稍后再试'),
  locks_lost: say(
    'notReady',
    'The locks were lost while they were held, and nothing was stored; try again',
    '持有的锁已丢失，未保存任何内容，请重试',
  ),
  not_initialised: say('notReady', 'Not initialised yet', '尚未初始化'),
  setup_needed: say(
    'notReady',
    'Not initialised yet: open the setup page, or POST /api/init/database',
    '尚未初始化：请打开安装页面，或调用 POST /api/init/database',
  ),
  administrator_needed: say(
    'notReady',
    'Not initialised yet: POST /api/init/admin',
    '尚未初始化：请调用 POST /api/init/admin',
  ),
  database_needed: say(
    'notReady',
    'Choose a database first: POST /api/init/database',
    '请先选择数据库：POST /api/init/database',
  ),
  signing_secret_unreadable: say(
    'notReady',
    'The secret that signs logins cannot be decrypted; the log says why',
    '登录签名密钥无法解密；原因见日志',
  ),
};

/** What 404001 names: the words of `params.what`. */
export const THINGS = {
  account: { en: 'Account', zh: '账户' },
  audit_entry: { en: 'Audit entry', zh: '审计条目' },
  backup: { en: 'The backup {name}', zh: '备份 {name} ' },
  binding: { en: 'Such a binding', zh: '该绑定' },
  change_set: { en: 'Change set', zh: '变更集' },
  plan: { en: 'Plan', zh: '计划' },
  version: { en: 'Version', zh: '版本' },
  channel: { en: 'Channel', zh: '通知渠道' },
  delivery: { en: 'Delivery', zh: '投递' },
  domain: { en: 'Domain', zh: '域名' },
  failover_rule: { en: 'Failover rule', zh: '故障转移规则' },
  job: { en: 'Job', zh: '任务' },
  move: { en: 'A move of the domain', zh: '该域名的迁移' },
  lock: { en: 'A lock of {name}', zh: '{name} 的锁定' },
  member: { en: 'Member', zh: '成员' },
  passkey: { en: 'The passkey', zh: '通行密钥' },
  permission: { en: 'Permission', zh: '权限' },
  record: { en: 'Record', zh: '记录' },
  record_set: { en: 'Record set', zh: '记录集' },
  route: { en: '{method} {path}', zh: '接口 {method} {path} ' },
  section: { en: 'Such a section', zh: '该设置部分' },
  session: { en: 'The session', zh: '会话' },
  sign_in_provider: { en: 'Such a sign-in provider', zh: '该登录提供方' },
  signing_secret: { en: 'A secret that signs logins', zh: '登录签名密钥' },
  team: { en: 'Team', zh: '团队' },
  this_route: { en: 'This route', zh: '此接口' },
  token: { en: 'Token', zh: '令牌' },
  hook: { en: 'Hook', zh: '钩子' },
  tsig_key: { en: 'TSIG key', zh: 'TSIG 密钥' },
  tunnel: { en: 'Tunnel', zh: '隧道' },
  user: { en: 'User', zh: '用户' },
  zone_at_provider: { en: 'Zone {name} at the provider', zh: '提供商处的区域 {name} ' },
} as const satisfies Record<string, { en: string; zh: string }>;
