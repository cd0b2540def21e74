/** Records, record sets, lists of changes, domains and their permissions. */
export const RECORD_WORDS = {
  'must be given: the rules of the token do not allow just one name': '必须填写：令牌的规则允许的名称不止一个',
  'must be 43 characters of base64url': '必须是 43 个 base64url 字符',
  'must be full names: at most {max}, with commas between': '必须是完整名称：最多 {max} 个，以逗号分隔',
  'is not taken: no host is taken out of DNS here': '不支持：这里不会从 DNS 中移除主机',
  'must be an address': '必须是地址',
  'must not be an address that only this machine or link has': '不能是仅本机或本链路可用的地址',
  'must be a list of objects': '必须是对象列表',
  'is missing, or of another type': '缺失或类型不对',
  'is not taken: sets have no policies': '不支持：记录集没有策略',
  'is none that ExternalDNS knows': '不是 ExternalDNS 支持的类型',
  '"{name}" is not canonical: it must end with a dot': '“{name}”不是规范名称：必须以点结尾',
  'must be one line of text': '必须是一行文本',
  'take {size} characters together, more than the {max} that are kept': '合计 {size} 个字符，超过可保存的 {max} 个',
  'must have records or comments as a list': '必须有列表形式的 records 或 comments',
  'must have exactly one record': '必须恰好有一条记录',
  'must hold no more than {max}': '不能超过 {max} 项',
  'must name the account of a provider that shall have the zone: one of {values}':
    '必须写明由哪个提供商账户承载该区域：{values} 之一',
  'cannot be used here: no account of a provider is open to you': '此处无法使用：没有可供您使用的提供商账户',
  'is {value} here, and cannot be changed by this API': '此处为 {value}，不能通过此 API 更改',
  'goes with no NS records of the zone itself': '不能与区域自身的 NS 记录同时使用',
  'is not taken: send the records of the zone as rrsets': '不支持：请以 rrsets 发送区域的记录',
  'is not taken here: send it with PATCH': '此处不支持：请用 PATCH 发送',
  'is a primary zone: nothing is transferred from elsewhere': '是主区域：不会从别处传送',
  'goes with no "value"; send one of the two': '不能与“value”同时使用；两者请只发送一个',
  'is required; use "@" for the root of the domain': '必须填写；域名的根请用“@”',
  'is required for "{op}"': '“{op}”必须有这个字段',
  'is not known for "{op}"': '“{op}”没有这个字段',
  'is the account that the domain is in': '就是该域名所在的账户',
  'is not that of the address': '与地址中的不一致',
  'is another word for "host", which says something else: send one':
    '与“host”是同一个字段，但两者的值不同：请只发送一个',
  'is another word for "priority", which says something else: send one':
    '与“priority”是同一个字段，但两者的值不同：请只发送一个',
  'must be a record type': '必须是记录类型',
  '"{type}" is no record type': '“{type}”不是记录类型',
  '"{name}" is no name': '“{name}”不是有效的名称',
  '"{name}" is a full name: give the host only': '“{name}”是完整域名：请只写主机部分',
  'goes with refresh=true only': '只能与 refresh=true 一起使用',
  'is required: {total} records match, more than the {max} that fit one answer':
    '必须填写：有 {total} 条匹配的记录，超过一次应答的上限 {max} 条',
  'hold {size} bytes of values before and after, more than the {max} of one list: send shorter lists':
    '修改前后的值共 {size} 字节，超过一个列表的上限 {max} 字节：请发送更短的列表',
  'CNAME is not allowed at the apex of a zone, beside SOA and NS; use A/AAAA or ALIAS':
    '区域顶点已有 SOA 和 NS，不允许 CNAME；请使用 A/AAAA 或 ALIAS',
  '{provider} supports {values}': '{provider} 支持 {values}',
  'or one of changes, document, version, change_set_id, from_domain_id and drift must be given':
    '必须提供它，或 changes、document、version、change_set_id、from_domain_id、drift 之一',
  'does not go together with {field}': '不能与 {field} 同时使用',
  'leaves out change {id}: the TTL of its set changes': '遗漏了更改 {id}：其记录集的 TTL 将改变',
  'must name a role, a team_id or user_ids': '必须指定 role、team_id 或 user_ids 之一',
  'no such team': '没有此团队',
  'no such user: {id}': '没有此用户：{id}',
  'or where must be given': '必须提供它，或 where',
  'must be given with where': '使用 where 时必须提供',
  'must name a host, type or value': '必须指定 host、type 或 value 之一',
  'must name at least one field': '必须至少指定一个字段',
  'does not go with a plan over many domains': '不能用于跨多个域名的计划',
  'is no change of this plan': '不是该计划中的更改',
  'must name hosts or types': '必须指定 hosts 或 types',
  'must name at least one change': '必须至少包含一个更改',
  'does not go with changes': '不能与 changes 同时使用',
  'are more than {max} in one plan: {count}': '超过一个计划的上限 {max} 个：{count} 个',
  'cannot be vendor: {provider} does not carry out lists whole': '不能是 vendor：{provider} 不能整体执行列表',
  'cannot be vendor: {changes} changes are more than the {max} that {provider} carries out whole':
    '不能是 vendor：{changes} 个更改超过 {provider} 整体执行的上限 {max} 个',
  '{provider} supports {min} to {max} seconds': '{provider} 支持 {min} 到 {max} 秒',
  '{provider} supports {min} to {max} seconds, or {automatic} for automatic':
    '{provider} 支持 {min} 到 {max} 秒，或用 {automatic} 表示自动',
  '{provider} takes host names of letters, digits and inner hyphens only':
    '{provider} 只接受由字母、数字和中间的连字符组成的主机名',
  '{provider} has no proxy mode': '{provider} 没有代理模式',
  '{provider} has no weighted records': '{provider} 没有带权重的记录',
  'only {types} can be proxied': '只有 {types} 可以开启代理',
  'a name has one DNAME; "{host}" has {type} {value} (id {id})':
    '一个名称只能有一条 DNAME；“{host}”已有 {type} {value}（id {id}）',
  'a name has one DNAME; "{host}" has one that does not go with it':
    '一个名称只能有一条 DNAME；“{host}”已有一条与它冲突的记录',
  'a CNAME allows no other record at its name; "{host}" has {type} {value} (id {id})':
    'CNAME 的名称上不允许有其他记录；“{host}”已有 {type} {value}（id {id}）',
  'a CNAME allows no other record at its name; "{host}" has one that does not go with it':
    'CNAME 的名称上不允许有其他记录；“{host}”已有一条与它冲突的记录',
  'a null MX (".") allows no other MX record at its name; "{host}" has one':
    '空 MX（“.”）的名称上不允许有其他 MX 记录；“{host}”已有一条',
  'this {type} record is managed at the provider and shown read-only': '此 {type} 记录由提供商管理，只能查看',
  'this {type} record is managed at the provider and shown read-only: {reason}':
    '此 {type} 记录由提供商管理，只能查看：{reason}',
  'goes with permission "write" only: reading is of the whole domain':
    '只能与权限“write”一起使用：读取权限针对整个域名',
  'must be a host such as www, *.dev or @': '必须是主机，例如 www、*.dev 或 @',
  'is no rule of this domain; leave it out for a new one': '不是此域名的规则；新规则请不要填写',
  'is named twice': '被重复指定',
  'the rule has no such values': '规则没有这样的值',
  'is an address that may not be checked: OUTBOUND_ALLOW does not list it':
    '是不允许检查的地址：OUTBOUND_ALLOW 没有列出它',
  'have {count} values, more than the {max} of one domain': '共有 {count} 个值，超过一个域名的上限 {max} 个',
  'another rule has this record set': '另一条规则已使用此记录集',
  'is for http and https only': '只用于 http 和 https',
  'is for https only': '只用于 https',
  'ping is not supported: Node.js can open no ICMP socket, and the service starts no other program; use tcp or http':
    '不支持 ping：Node.js 不能打开 ICMP 套接字，本服务也不启动其他程序；请使用 tcp 或 http',
  'is required for tcp': 'tcp 必须填写',
  'must not be longer than interval_s': '不得超过 interval_s',
  'must begin with "/", without blanks': '必须以“/”开头，不含空白',
  'is for administrators where an address is an inner one, which OUTBOUND_ALLOW alone lets be checked':
    '当地址是仅由 OUTBOUND_ALLOW 放行的内网地址时，只有管理员可以使用',
  'and id must be the same': '与 id 必须相同',
} as const;
