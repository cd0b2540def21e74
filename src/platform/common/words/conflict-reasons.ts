import { say } from './words.js';

/** Why something does not go together with what there is. */
export const CONFLICT_REASONS = {
  record_exists: say('conflict', 'This record exists already', '此记录已存在'),
  record_exists_as: say('conflict', 'This record exists already (id {id})', '此记录已存在（id {id}）'),
  record_exists_disabled: say(
    'conflict',
    'This record exists already (id {id}, disabled: enable it instead)',
    '此记录已存在（id {id}，已停用：请直接启用它）',
  ),
  record_unclear: say(
    'conflict',
    'The provider gave no clear answer about the last change of this record, and is being asked; try again in a minute',
    '提供商未明确答复此记录的上一次更改，正在查询；请一分钟后再试',
  ),
  earlier_change_unclear: say(
    'conflict',
    'The provider gave no answer in time about an earlier change here, and may still carry it out; try again after {until}',
    '提供商未及时答复此处之前的更改，可能仍会执行；请在 {until} 之后再试',
  ),
  guards_not_named: say(
    'guarded',
    'Nothing was changed: {guards} would have to be named in "force"',
    '未做任何更改：需要在 "force" 中列出 {guards}',
  ),
  plan_ended: say('conflict', 'The plan is {state}: make another one', '该计划的状态是 {state}：请重新创建计划'),
  plans_full: say(
    'conflict',
    'You would have more than {plans} plans that are not applied, or {changes} changes in them: apply some of them, or wait until they expire',
    '未应用的计划将超过 {plans} 个，或其中的更改将超过 {changes} 项：请应用其中一些，或等待其过期',
  ),
  plan_of_group: say(
    'conflict',
    'The plan is a part of plan {group} over many domains: apply or discard that one',
    '该计划是跨多个域名的计划 {group} 的一部分：请应用或丢弃后者',
  ),
  plan_not_waiting: say(
    'conflict',
    'The plan is {state}: it does not wait for an approval',
    '该计划的状态是 {state}：并非待审批',
  ),
  waits_for_approval: say(
    'conflict',
    'Nothing was changed yet: it waits for an approval as plan {plan}',
    '尚未更改：作为计划 {plan} 等待审批',
  ),
  busy: say('conflict', 'Somebody else is changing this right now; try again', '他人正在更改，请重试'),
  changed_meanwhile: say(
    'conflict',
    'What this belongs to was changed meanwhile; look and try again',
    '所属对象期间已被更改，请查看后重试',
  ),
  needs_force: say(
    'conflict',
    'The account has {domains} domains and {tunnels} tunnels; delete them first, or use ?force=true',
    '该账户仍有 {domains} 个域名和 {tunnels} 条隧道；请先删除，或使用 ?force=true',
  ),
  list_needs_force: say(
    'conflict',
    'A list of changes is not done (change set {change_set}): cancel it, or use ?force=true to have it cancelled',
    '有一个变更集尚未完成（{change_set}）：请取消它，或使用 ?force=true 将其取消',
  ),
  tunnel_needs_force: say(
    'conflict',
    'Connectors run the tunnel; stop them first, or use ?force=true',
    '隧道仍有连接器在运行；请先停止，或使用 ?force=true',
  ),
  overlap_needs_force: say(
    'conflict',
    '{name} lies below or above a domain of somebody else, or has its name ({domains}); force=true adds it all the same',
    '{name} 位于他人域名（{domains}）之下或之上，或与其同名；使用 force=true 可强制添加',
  ),
  suffix_needs_force: say(
    'conflict',
    '{name} is a public suffix, below which anybody may register names; force=true adds it all the same',
    '{name} 是公共后缀，任何人都可在其下注册名称；使用 force=true 可强制添加',
  ),
  zone_shared_needs_force: say(
    'conflict',
    'Another account has this zone of the same server here already; force=true adds it all the same',
    '此处另一账户已有同一服务器的该区域；使用 force=true 可强制添加',
  ),
  zone_shared: say(
    'conflict',
    'Another account has this zone of the same server here already; an administrator may add it',
    '此处另一账户已有同一服务器的该区域；可由管理员添加',
  ),
  in_flight_until: say(
    'conflict',
    'The provider may still carry out an earlier change of {name} until {until}; try again then',
    '提供商在 {until} 之前仍可能执行 {name} 之前的更改；请届时再试',
  ),
  in_flight_now: say(
    'conflict',
    'The provider may still carry out an earlier change of {name} now; try again in a minute',
    '提供商现在仍可能执行 {name} 之前的更改；请一分钟后再试',
  ),
  move_running: say('conflict', 'The domain is being moved already', '该域名正在迁移'),
  move_target_of_another: say(
    'conflict',
    'Another domain is being moved to this one, or away from it',
    '另一个域名正在与此域名进行迁移',
  ),
  move_needs_create: say(
    'conflict',
    'The provider of that account has no zone {name}: make it there, or use "create"',
    '该账户的提供商没有区域 {name}：请先在那里创建，或使用 "create"',
  ),
  move_same_zone: say('conflict', 'That account has the very same zone', '该账户中是同一个区域'),
  move_target_gone: say(
    'conflict',
    'The domain of the other account was deleted here: cancel the move',
    '另一账户的域名已在此处删除：请取消迁移',
  ),
  move_no_way_back: say(
    'conflict',
    'The old zone of the domain was deleted here, and the switch cannot be taken back: finish the move',
    '该域名的旧区域已在此处删除，无法撤销切换：请完成迁移',
  ),
  move_needs_replace: say(
    'conflict',
    '{count} records of the other zone are not in the domain: "replace" deletes them',
    '另一区域有 {count} 条记录不在该域名中：使用 "replace" 将删除它们',
  ),
  move_goes_on: say(
    'conflict',
    'The records are being copied (change set {change_set}): take this step again when that is done',
    '正在复制记录（变更集 {change_set}）：完成后请再次执行此步骤',
  ),
  move_not_copied: say('conflict', '{count} records were not copied: {why}', '有 {count} 条记录未复制：{why}'),
  move_differs: say(
    'conflict',
    'The zones differ in {count} records, so nothing was switched: {why}',
    '两个区域有 {count} 条记录不同，未切换：{why}',
  ),
  move_in_flight: say(
    'conflict',
    'Changes of records have no end yet; try again when they have',
    '记录更改尚未结束；请在其结束后重试',
  ),
  move_state: say('conflict', 'The move is {state}: this step is not for it', '迁移状态为 {state}：不能执行此步骤'),
  domain_name_ambiguous: say(
    'conflict',
    'Several domains have the name {name}: use the id of one of them ({ids})',
    '有多个域名名为 {name}：请使用其中一个的 id（{ids}）',
  ),
  zone_private_only: say(
    'conflict',
    'The provider has {name} as a private zone only, which is added by a synchronisation',
    '提供商处的 {name} 仅为私有区域，由同步添加',
  ),
  domain_private: say(
    'conflict',
    '{name} is a private zone: it is not in public DNS',
    '{name} 是私有区域：不在公共 DNS 中',
  ),
  domain_exists: say('conflict', 'the domain {name} exists in this account already', '域名 {name} 在此账户中已存在'),
  permission_exists: say('conflict', 'the team has this permission already', '团队已有此权限'),
  username_exists: say('conflict', 'exists already', '用户名已存在'),
  email_taken: say('conflict', 'belongs to another user', '电子邮件地址属于其他用户'),
  member_already: say('conflict', 'is a member of the team already', '已是团队成员'),
  last_owner: say(
    'conflict',
    'This is the last owner of the team; make another one first, or delete the team',
    '这是团队的最后一位所有者；请先指定另一位，或删除团队',
  ),
  last_super_administrator: say(
    'conflict',
    'This is the last active super administrator; make another one first',
    '这是最后一位有效的超级管理员；请先指定另一位',
  ),
  no_sign_in_left: say(
    'conflict',
    'No active super administrator would have a way to sign in; set a password first',
    '将没有任何有效的超级管理员能够登录；请先设置密码',
  ),
  last_sign_in_method: say(
    'conflict',
    'This is the last way to sign in to this account; set a password or add another first',
    '这是此账号最后一种登录方式；请先设置密码或添加其他方式',
  ),
  binding_of_another: say('conflict', 'This sign-in is bound to another user', '此登录方式已绑定到其他用户'),
  binding_of_provider: say(
    'conflict',
    'You have bound another sign-in of this provider; unbind it first',
    '您已绑定此提供方的另一登录方式；请先解除绑定',
  ),
  bound_just_now: say('conflict', 'This sign-in was bound just now', '此登录方式刚刚已被绑定'),
  passkey_known: say('conflict', 'This passkey is registered already', '此通行密钥已注册'),
  too_many_passkeys: say(
    'conflict',
    'A user has at most {max} passkeys; delete one first',
    '每位用户最多有 {max} 个通行密钥；请先删除一个',
  ),
  passkeys_need_host: say(
    'conflict',
    'Passkeys need a host name as public address (BASE_URL), not an IP address',
    '通行密钥要求公开地址（BASE_URL）为主机名，而不是 IP 地址',
  ),
  second_factor_on: say('conflict', 'The second factor is on already; turn it off first', '第二因素已启用；请先关闭'),
  second_factor_off: say('conflict', 'The second factor is not on', '第二因素未启用'),
  no_enrolment: say(
    'conflict',
    'No enrolment is waiting; call 2fa/setup first',
    '没有等待完成的设置；请先调用 2fa/setup',
  ),
  enrolment_replaced: say(
    'conflict',
    'The enrolment was begun anew; use its newest seed',
    '设置已重新开始；请使用最新的密钥',
  ),
  list_ended: say('conflict', 'The list has come to its end', '该列表已经结束'),
  list_not_held: say(
    'conflict',
    'The list is not held: there is nothing to confirm',
    '该列表未被暂停：没有需要确认的内容',
  ),
  list_cancelled: say('conflict', 'The list was cancelled before this change was begun', '此更改开始之前列表已被取消'),
  list_unfinished: say('conflict', 'The list did not come to its end within a day', '该列表未能在一天之内结束'),
  lookups_off: say(
    'conflict',
    'Registries are asked nothing here (EXPIRY_LOOKUPS=off)',
    '此处不查询注册局（EXPIRY_LOOKUPS=off）',
  ),
  not_registrable: say(
    'conflict',
    'Nobody registers {name}: it is no name below a public suffix',
    '{name} 无法注册：它不是公共后缀之下的名称',
  ),
  rule_held: say(
    'conflict',
    'rules.{position} is on hold by now ({why}): read it again to release it',
    'rules.{position} 现已暂停（{why}）：请重新读取后再解除',
  ),
  rules_switching: say('conflict', 'A rule is being switched right now; try again', '有一条规则正在切换，请重试'),
  rule_switching: say('conflict', 'The rule is being switched right now; try again', '该规则正在切换，请重试'),
  last_answer: say('conflict', 'The last answer is never removed', '不能移除最后一个应答'),
  set_changed_elsewhere: say(
    'conflict',
    'The record set was changed by somebody else: it holds {found}',
    '记录集已被他人更改：现为 {found}',
  ),
  set_emptied_elsewhere: say(
    'conflict',
    'The record set was changed by somebody else: it holds nothing',
    '记录集已被他人更改：现为空',
  ),
  delivery_not_dead: say('conflict', 'The delivery is not dead, but {state}', '该投递并未失败终止，而是 {state}'),
  job_not_startable: say(
    'conflict',
    'Only a job that failed, or waits, can be started again',
    '只有失败或等待中的任务才能重新启动',
  ),
  job_runs: say('conflict', 'That runs already; see the job', '该任务已在运行；请查看任务'),
  backup_runs: say(
    'conflict',
    'A backup is being written already; try again when it is done',
    '正在写入备份；请待其完成后再试',
  ),
  service_runs: say(
    'conflict',
    'A service works on this database, or did a moment ago. It has the key, or it could not have started: look there first, then stop it. Nothing was changed',
    '有服务正在或刚刚还在使用此数据库。它持有密钥，否则无法启动：请先到那里查看，然后停止它。未做任何更改',
  ),
  not_paused: say('conflict', 'It is not paused', '并未暂停'),
  database_preset: say('conflict', 'The database is preset by DATABASE_URL', '数据库已由 DATABASE_URL 指定'),
  database_chosen: say('conflict', 'A database is chosen already', '已经选定数据库'),
  too_many_tokens: say(
    'conflict',
    'A user may have {max} tokens; delete one first',
    '每位用户最多可有 {max} 个令牌；请先删除一个',
  ),
  too_many_registrations: say(
    'conflict',
    'A token may have {max} registrations; use another token',
    '每个令牌最多可有 {max} 个注册；请使用另一个令牌',
  ),
  set_of_others: say(
    'conflict',
    '{name} {type} has other values than the client has seen; it is read anew',
    '{name} {type} 的值与客户端所见不同；将重新读取',
  ),
  too_many_hooks: say(
    'conflict',
    'A token may have {max} hooks; delete one first',
    '每个令牌最多可有 {max} 个钩子；请先删除一个',
  ),
  token_rotated: say('conflict', 'The token was rotated just now', '令牌刚刚已被轮换'),
  token_domains_gone: say(
    'conflict',
    'All domains of this token were deleted; name other domains, or create a new token',
    '此令牌的所有域名均已删除；请指定其他域名，或创建新令牌',
  ),
  hostnames_taken: say(
    'conflict',
    'Nothing was changed: {words}. Change or delete it, or send dns_managed: false',
    '未做任何更改：{words}。请更改或删除它，或发送 dns_managed: false',
  ),
  tunnel_rules_local: say(
    'conflict',
    'The provider has a tunnel {name} already, whose rules are in a file beside its connector: they cannot be set from here',
    '提供商处已有隧道 {name}，其规则在连接器旁的文件中：无法从此处设置',
  ),
  tunnel_there: say(
    'conflict',
    'The provider has a tunnel {name} already: leave "ingress" out to adopt it as it is, and change it then',
    '提供商处已有隧道 {name}：请去掉 "ingress" 以按原样接管，然后再更改',
  ),
  tunnel_rules_large: say(
    'conflict',
    'The provider holds more than {max} bytes of rules of the tunnel',
    '提供商处该隧道的规则超过 {max} 字节',
  ),
  tunnel_name_known: say('conflict', 'there is a tunnel {name} already (id {id})', '已有名为 {name} 的隧道（id {id}）'),
  tunnel_name_unready: say(
    'conflict',
    'there is a tunnel {name} already (id {id}, and is {state})',
    '已有名为 {name} 的隧道（id {id}，状态 {state}）',
  ),
  tunnel_name_at_provider: say(
    'conflict',
    'there is a tunnel {name} already at the provider',
    '提供商处已有名为 {name} 的隧道',
  ),
  tunnel_version: say(
    'conflict',
    'Somebody else has changed the configuration since: it is version {version}, not {expected}; read the tunnel again',
    '他人已更改配置：现为版本 {version}，而不是 {expected}；请重新读取隧道',
  ),
  tunnel_being_created: say(
    'conflict',
    'The provider may still be at its creation; try again in a minute',
    '提供商可能仍在创建；请一分钟后再试',
  ),
  tunnel_connectors_left: say(
    'conflict',
    'Its connectors are still there, without a valid secret; it is deleted as soon as they go',
    '其连接器仍在，但密钥已失效；待它们断开后即删除',
  ),
  tunnel_unfinished: say(
    'conflict',
    'Something was begun with the tunnel and is not ended yet; try again in a minute',
    '该隧道有操作已开始但尚未结束；请一分钟后再试',
  ),
  tunnel_unfinished_because: say(
    'conflict',
    'Something was begun with the tunnel and is not ended yet ({why}); try again in a minute',
    '该隧道有操作已开始但尚未结束（{why}）；请一分钟后再试',
  ),

  records_suspicious: say(
    'suspicious',
    'The provider lists {name} without {count} of {of} known records; nothing was changed. If they are meant to go: GET /api/domains/{id}/records?refresh=true&confirm=true',
    '提供商的 {name} 列表缺少 {of} 条已知记录中的 {count} 条；未做任何更改。如确应移除：GET /api/domains/{id}/records?refresh=true&confirm=true',
  ),
  zones_suspicious: say(
    'suspicious',
    'The provider lists {listed} of {known} known zones; nothing was changed. ?confirm=true marks as missing: {few}',
    '提供商仅列出 {known} 个已知区域中的 {listed} 个；未做任何更改。?confirm=true 将标记为缺失：{few}',
  ),

  request_running: say(
    'running',
    'The request with this Idempotency-Key is still running; ask again',
    '使用此 Idempotency-Key 的请求仍在执行，请稍后再次请求',
  ),
  key_reused: say(
    'reused',
    'This Idempotency-Key was used with another method, path or body',
    '此 Idempotency-Key 已用于其他方法、路径或请求正文',
  ),
  outcome_unknown: say(
    'conflict',
    'The request with this Idempotency-Key began, but nobody knows what came of it; look for its id {request} in the audit log, and at what it was to change, then send another key',
    '使用此 Idempotency-Key 的请求已开始，但结果未知；请在审计日志中查找其 id {request}，检查要更改的内容，然后使用新的键',
  ),
  answer_not_kept: say(
    'conflict',
    'The request with this Idempotency-Key ({request}) was answered with {status}; that answer was too long to be kept: read what it changed',
    '使用此 Idempotency-Key 的请求（{request}）已应答 {status}；应答过长，未予保存：请读取更改后的内容',
  ),

  if_match: say('precondition', 'It is not what If-Match names; read it again', '当前状态与 If-Match 不符，请重新读取'),
  record_if_match: say(
    'precondition',
    'The record is not what If-Match names; read it again',
    '记录与 If-Match 不符，请重新读取',
  ),
  record_not_as_planned: say(
    'precondition',
    'Somebody has changed the record since the plan was applied; make another plan',
    '该记录在计划开始执行后已被他人修改；请重新创建计划',
  ),
  if_none_match: say('precondition', 'What If-None-Match names is there', 'If-None-Match 所指的内容已存在'),
  if_match_needed: say(
    'unconditional',
    'Nothing was changed: the domain demands of updates and deletions that If-Match names what they change; send the ETag of what was read',
    '未做任何更改：该域名要求更新和删除操作以 If-Match 指明所更改的内容；请发送读取时得到的 ETag',
  ),
  plan_stale: say(
    'precondition',
    'Nothing was changed: something else stands there than the plan was made on; make another one',
    '未做任何更改：现状与制定计划时不同；请重新创建计划',
  ),
  record_gone: say('precondition', 'The record is gone', '记录已不存在'),
  record_gone_at_provider: say(
    'precondition',
    'The record is no more at the provider; synchronise the domain',
    '提供商处已无此记录；请同步该域名',
  ),
  record_differs_at_provider: say(
    'precondition',
    'The provider holds another state of the record; synchronise the domain',
    '提供商处此记录的状态不同；请同步该域名',
  ),
};
