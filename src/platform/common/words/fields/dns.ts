/** Names and values of records, as DNS has them. */
export const DNS_WORDS = {
  'must be a domain name of 1 to 253 characters': '必须是 1 到 253 个字符的域名',
  'has an empty label (two dots in a row, or a dot at the start)': '含有空的标签（连续两个点，或以点开头）',
  'label "{label}" is longer than 63 characters': '标签“{label}”超过 63 个字符',
  'label "{label}" is not allowed: use {hint}': '标签“{label}”不被允许：请使用{hint}',
  'letters, digits, "-", "_" and "/"': '字母、数字、“-”、“_”和“/”',
  'letters, digits, "-", "_" and "/", and "*" as the first label only':
    '字母、数字、“-”、“_”和“/”，“*”只能作为第一个标签',
  'letters, digits, "-" and "_"': '字母、数字、“-”和“_”',
  'printable ASCII without blanks, " ; ( ) @ $ * and "\\"': '可打印的 ASCII 字符，不含空白、" ; ( ) @ $ * 和“\\”',
  '"{name}" is not inside the zone {zone}': '“{name}”不在区域 {zone} 之内',
  '"{name}" ends with the name of the zone: write "{relative}", or "{absolute}" with a final dot (and "{doubled}" if the zone is meant twice)':
    '“{name}”以区域名结尾：请写“{relative}”，或带末尾点的“{absolute}”（如果确实要重复区域名，请写“{doubled}”）',
  'the full name is longer than 253 characters': '完整域名超过 253 个字符',
  'must be a host name, not the root': '必须是主机名，不能是根',
  'must be a host name, not an address ({address})': '必须是主机名，不能是 IP 地址（{address}）',
  'must be a host name, not a URL': '必须是主机名，不能是网址',
  'must be a host name, not a URL: write "{host}"': '必须是主机名，不能是网址：请写“{host}”',
  'must be a whole number from {min} to {max}': '必须是 {min} 到 {max} 的整数',
  'must be a whole number of seconds from {min} to {max}': '必须是 {min} 到 {max} 的整数秒数',
  'is not UTF-8 text without NUL': '不是不含 NUL 的 UTF-8 文本',
  'needs {size} words of data, not {given}': '需要 {size} 段数据，而不是 {given} 段',
  '{part} must be a number from 0 to {max}': '{part} 必须是 0 到 {max} 的数字',
  '{part} must be hexadecimal': '{part} 必须是十六进制',
  '{part} must be base64': '{part} 必须是 base64',
  'must be {parts}': '必须依次是 {parts}',
  'must be an IPv4 address such as 192.0.2.1': '必须是 IPv4 地址，例如 192.0.2.1',
  'must be an IPv6 address such as 2001:db8::1': '必须是 IPv6 地址，例如 2001:db8::1',
  'has a quote that is not closed or stands inside a word, or a broken escape':
    '含有未闭合的引号、位于词中的引号，或损坏的转义',
  'must be the mailbox as a name, and the name of a TXT record or "."':
    '必须是写成域名的邮箱，以及一条 TXT 记录的名称或“.”',
  'has "|" in a name': '名称中含有“|”',
  'must be the mail host alone; the preference goes into "priority"': '只能是邮件主机；优先级请写入“priority”',
  'must be "weight port target"; the priority goes into "priority"': '必须是“权重 端口 目标”；优先级请写入“priority”',
  'must be flags, tag and value, such as 0 issue "letsencrypt.org"':
    '必须是标志、标签和值，例如 0 issue "letsencrypt.org"',
  'has more than one quoted value': '含有多个带引号的值',
  'has a control character': '含有控制字符',
  'has a NUL character': '含有 NUL 字符',
  'is longer than a TXT record can be (65 254 bytes)': '超过 TXT 记录的最大长度（65 254 字节）',
  'is longer than {max} characters': '超过 {max} 个字符',
  'must be "priority target [key=value …]"': '必须是“优先级 目标 [key=value …]”',
  'parameter {parameter} must be key or key=value, without blanks, quotes, ";", "(" or "\\"':
    '参数 {parameter} 必须是 key 或 key=value，不含空白、引号、“;”、“(”或“\\”',
  'must have a tag of 1 to {max} letters and digits': '标签必须是 1 到 {max} 个字母和数字',
  'must not have parameters next to the priority 0 (AliasMode)': '优先级为 0（AliasMode）时不能有参数',
  'parameter {parameter}: {rule}': '参数 {parameter}：{rule}',
  'must be in lower case': '必须是小写',
  'is not a known key: write an unknown key as its number, such as key667':
    '不是已知的键：未知的键请写成编号，例如 key667',
  'must be written by its name, "{name}"': '必须写成其名称“{name}”',
  'must be a path such as {example}': '必须是路径，例如 {example}',
  'must name other parameters of the record, each one once': '必须列出该记录的其他参数，且每个只列一次',
  'must be protocol names of 2 to 255 characters, separated by commas':
    '必须是以逗号分隔、不重复的协议名，每个 2 到 255 个字符',
  'must not have a value': '不能有值',
  'must be IPv4 addresses, separated by commas': '必须是以逗号分隔的 IPv4 地址',
  'must be IPv6 addresses, separated by commas': '必须是以逗号分隔的 IPv6 地址',
  'must be base64 text': '必须是 base64 文本',
  'is given twice': '重复出现',
  'names {name}, which is not given': '列出了 {name}，但记录中没有它',
  'is only allowed next to alpn': '只能与 alpn 一起使用',
  '{part} must have {size} octets, not {given}': '{part} 必须是 {size} 个字节，而不是 {given} 个',
  'must have an altitude from -100000.00m to 42849672.95m, and sizes up to 90000000.00m':
    '高度必须在 -100000.00m 到 42849672.95m 之间，大小和精度不能超过 90000000.00m',
  'has a string of more than {max} octets': '含有超过 {max} 个字节的字符串',
  'has a regexp that is not a substitution such as !^.*$!sip:info@example.net!':
    '其 regexp 不是替换表达式，例如 !^.*$!sip:info@example.net!',
  'must have a target that is not empty': '目标不能为空',
  'must not be a wildcard: a wildcard is not a delegation (RFC 4592)': '不能是通配符：通配符不是委派（RFC 4592）',
  'must not be the apex: the DS records of a zone are in its parent zone':
    '不能是区域顶点：区域的 DS 记录位于其上级区域',
  'must not be the name of the record itself': '不能是记录自身的名称',
  'must be 0 for the mail host "." (null MX, RFC 7505)': '邮件主机为“.”时必须是 0（空 MX，RFC 7505）',
  'has the typographic quote {quote}: write straight quotes (")': '含有排版引号 {quote}：请使用直引号（"）',
  'must be order, preference, "flags", "service", "regexp" and replacement':
    '必须是 order、preference、"flags"、"service"、"regexp" 和 replacement，共六项',
  'must be priority, weight and "target"': '必须是优先级、权重和带引号的目标',
  'must be a location such as 52 22 23.000 N 4 53 32.000 E -2.00m':
    '必须是位置，例如 52 22 23.000 N 4 53 32.000 E -2.00m',
  'must be an id, or the name of a domain (one of a single label has a final dot)':
    '必须是 id 或域名（只有一个标签的域名要以点结尾）',
} as const;
