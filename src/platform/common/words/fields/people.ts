/** Users, sign-in, teams and API tokens. */
export const PEOPLE_WORDS = {
  'must be 1 to 64 letters, digits or . _ @ + -': '必须是 1 到 64 个字母、数字或 . _ @ + -',
  'must have {min} to {max} characters': '必须有 {min} 到 {max} 个字符',
  'is too easy to guess; use a longer one, or words that do not belong together':
    '太容易被猜到；请使用更长的密码，或互不相关的词',
  'send username or email': '请发送 username 或 email 其中之一',
  'must be the 64 characters of the mail': '必须是邮件中的 64 个字符',
  'must be the 64 characters of the answer with code -2': '必须是 code 为 -2 的应答中的 64 个字符',
  'is needed for another address: POST /api/security/email-code':
    '更换地址时必须填写：请先 POST /api/security/email-code',
  'is wrong, too old, for another address, or was tried too often': '错误、已过期、属于另一个地址，或尝试次数过多',
  'must be an address below {url}, or a path, without query': '必须是 {url} 之下的地址，或一个路径，不带查询参数',
  'is needed, or error': '必须填写，或填写 error',
  'is needed, or recoveryCode': '必须填写，或填写 recoveryCode',
  'is unknown, used, or older than five minutes; start again': '未知、已使用或超过五分钟；请重新开始',
  'must be what navigator.credentials.create gave, as JSON':
    '必须是 navigator.credentials.create 返回的内容，格式为 JSON',
  'does not answer these options: wrong origin, no user verification, or damaged':
    '与所给选项不符：来源错误、没有验证用户，或已损坏',
  'takes the place of Authorization: leave out one': '它代替 Authorization：两者请只用一个',
  'cannot be sent together with user_id': '不能与 user_id 一起发送',
  'is needed, or username': '必须填写，或填写 username',
  'is no active user': '不是有效的用户',
  'must be a host such as www or @': '必须是主机，例如 www 或 @',
  'is needed: the host whose address changes': '必须填写：地址会变化的主机',
  'stands for rules; send one of the two': '它代替 rules；两者请只发送一个',
  'must not be empty: it would allow nothing; leave it out': '不能为空：那样什么都不允许；请不要填写',
  'no domain has the id {ids}': '没有 id 为 {ids} 的域名',
  'you have no access to the domain {ids}': '您无权访问域名 {ids}',
  'must be at most your own role, {role}': '不得高于您自己的角色 {role}',
  'must be host names without final dot': '必须是不带末尾点的主机名',
  'must be hosts such as www, *.dev or @': '必须是主机，例如 www、*.dev 或 @',
  'must be record types': '必须是记录类型',
  'the rules of a token hold at most {entries} hosts, networks and suffixes, {characters} characters together':
    '一个令牌的规则最多有 {entries} 个主机、网段和后缀，合计 {characters} 个字符',
  'the patterns of a token hold at most {characters} characters and {classes} of \\p together':
    '一个令牌的正则表达式合计最多 {characters} 个字符和 {classes} 个 \\p',
  'is too long to compile, with those before it: write smaller repetitions or ranges':
    '连同之前的表达式，编译代价过大：请使用更小的重复次数或范围',
  'must be a regular expression in RE2 syntax': '必须是 RE2 语法的正则表达式',
  'compiles to {steps} steps; {max} are allowed': '编译后有 {steps} 步，最多允许 {max} 步',
  'the patterns of a token compile to at most {max} steps together': '一个令牌的正则表达式编译后合计最多 {max} 步',
  'must not be above ttl.max': '不得大于 ttl.max',
  'must not be above max_length': '不得大于 max_length',
  'speaks of none of the types of this rule, so that it would allow nothing':
    '与此规则的任何类型都无关，因此什么都不会允许',
  'names none of allowed_domains, so that the rule would allow nothing':
    '不含 allowed_domains 中的任何域名，因此规则什么都不会允许',
  'must be a type, or a type and an id: token:7': '必须是类型，或类型加 id，例如 token:7',
} as const;
