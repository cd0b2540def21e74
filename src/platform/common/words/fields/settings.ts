/** Settings, notifications, backups, accounts and the set-up. */
export const SETTINGS_WORDS = {
  'must not be null; leave it out to keep it': '不能为 null；要保持不变请不要填写',
  'cannot be set: POST /api/settings/:section/confirm, by a super administrator':
    '不能设置：请由超级管理员 POST /api/settings/:section/confirm',
  'is the id of another rule, too': '也是另一条规则的 id',
  'is that of another channel, too': '也是另一个渠道的 id',
  'is too much for one section: {max} bytes are the most': '超过一个部分的上限：最多 {max} 字节',
  'must be https; plain http is for loopback only': '必须是 https；普通 http 只用于本机回环地址',
  'belongs to providers without issuer; leave one of the two out': '只用于没有 issuer 的提供方；两者请去掉一个',
  'is needed, or the endpoints and subject_field of a plain OAuth 2.0 provider':
    '必须填写，或填写普通 OAuth 2.0 提供方的各个端点和 subject_field',
  'must contain your own address, {address}, or you would be shut out':
    '必须包含您自己的地址 {address}，否则您会被拒之门外',
  'must not be below lock_minutes': '不得小于 lock_minutes',
  'is needed when mail is on': '开启邮件时必须填写',
  'must be sent again when host or port change, or encryption ends: others could read it there':
    '更换主机或端口、或取消加密时必须重新发送：否则可能被他人读取',
  'must be sent again when the provider moves': '提供方的地址改变时必须重新发送',
  'must be sent again when {field} changes: it would go to somebody else': '{field} 改变时必须重新发送：否则会发给别人',
  'is no field of a channel of the type {type}': '不是类型为 {type} 的渠道的字段',
  'is needed for a channel of the type {type}': '类型为 {type} 的渠道必须填写',
  'must not have a query, since it is shown: sign with a secret instead':
    '会被显示，因此不能带查询参数：请改用密钥签名',
  'is not allowed: {reason}': '不被允许：{reason}',
  'is not set: store the mail server first': '尚未设置：请先保存邮件服务器',
  'is not set: store the sender first': '尚未设置：请先保存发件人',
  'must be one mail address such as me@example.com': '必须是一个邮件地址，例如 me@example.com',
  'must be mail addresses such as me@example.com': '必须是邮件地址，例如 me@example.com',
  'must be an address such as Zoneward <dns@example.com>': '必须是地址，例如 Zoneward <dns@example.com>',
  'must be an http or https URL without user name': '必须是不带用户名的 http 或 https 网址',
  'must be an https: URL with a plain host, a data:image/ URL, or a path such as /pictures/sea.jpg, without quotes, brackets and white space':
    '必须是主机名普通的 https: 网址、data:image/ 网址，或 /pictures/sea.jpg 这样的路径，不含引号、括号和空白',
  'must be IP addresses (a port may follow), tls://… or https://… URLs':
    '必须是 IP 地址（可带端口）、tls://… 或 https://… 网址',
  'must be a host name or address': '必须是主机名或地址',
  'must be a number or @name': '必须是数字或 @名称',
  'must be the token of a bot': '必须是机器人的令牌',
  'must be the id of a channel': '必须是渠道的 id',
  'must be 1 to 32 of A-Z, a-z, 0-9, _ and -': '必须是 1 到 32 个字符，只能用 A-Z、a-z、0-9、_ 和 -',
  'each of {field} must be a word': '{field} 的每一项必须是一个词',
  'must be the name of a field': '必须是字段名',
  'must have different keys': 'key 不得重复',
  'must be the name of a backup, as the list shows it': '必须是列表中显示的备份名称',
  'must be a free file name inside the data directory: letters, digits, ".", "_" and "-"':
    '必须是数据目录内未被占用的文件名：字母、数字、“.”、“_”和“-”',
  'is no team': '不是团队',
  'must be a relative path without ".."': '必须是不含“..”的相对路径',
  'has a name of more than 255 bytes': '含有超过 255 字节的名称',
  'leads out of the directory for zone files': '通向区域文件目录之外',
  'is not a credential of {provider}: {fields}': '不是 {provider} 的凭据字段，可用的有：{fields}',
  'must be text': '必须是文本',
  'is longer than 4096 characters': '超过 4096 个字符',
  'must be a number': '必须是数字',
  'must not hold a user name or password': '不能含有用户名或密码',
  'is required: {label}': '必须填写：{label}',
  'is required: {label} (alternatives: {alternatives})': '必须填写：{label}（可选组合：{alternatives}）',
  'must be sent again, because {field} changes: it would go elsewhere':
    '由于 {field} 改变，必须重新发送：否则会发往别处',
  'must be sent again, because the way to sign in changes: it would go elsewhere':
    '由于登录方式改变，必须重新发送：否则会发往别处',
} as const;

/** Why the database that was chosen cannot be used. */
export const DATABASE_WORDS = {
  'The host name is not known': '主机名无法解析',
  'must be a name or an address, with a port or without': '必须是名称或地址，可带端口',
  'Connections to this address are not allowed (outbound rules)': '不允许连接到此地址（出站规则）',
  'Nothing listens at this host and port': '此主机和端口上没有服务',
  'The server cannot be reached': '无法连接到服务器',
  'User name or password is wrong, or the user may not use this database': '用户名或密码错误，或此用户不能使用该数据库',
  'The database does not exist': '数据库不存在',
  'The TLS connection failed': 'TLS 连接失败',
  'The user lacks rights in this database': '用户在此数据库中的权限不足',
  'The file cannot be opened in the data directory': '无法在数据目录中打开此文件',
  'The file is not an SQLite database': '此文件不是 SQLite 数据库',
  'The connection failed': '连接失败',
  'The service cannot work with it; the log says why': '服务无法使用它；原因见日志',
  'A restore into this database did not get to its end': '对此数据库的恢复没有完成',
  'The database was written by a newer version of this program': '此数据库由本程序的更新版本写入',
  'The database holds secrets that the key of this installation cannot decrypt; the log says which':
    '数据库中有本安装的密钥无法解密的机密；具体见日志',
} as const;
