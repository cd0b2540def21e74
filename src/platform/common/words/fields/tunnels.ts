/** Tunnels and their rules. */
export const TUNNEL_WORDS = {
  'must not be a UUID': '不能是 UUID',
  '{provider} accounts cannot hold tunnels': '{provider} 账户不支持隧道',
  'is required: the credentials show no account there': '必须填写：凭据看不到那里的任何账户',
  '{hostname} has a {type} record already: {value} (id {id})': '{hostname} 已有 {type} 记录：{value}（id {id}）',
  'adds and takes away more than {max} bytes of hostnames: do it in steps':
    '增加和删除的主机名超过 {max} 字节：请分步进行',
  'is larger than {max} bytes': '超过 {max} 字节',
  'is needed, or a path: only the last rule answers everything, and no rule behind this one would ever':
    '必须填写，或填写路径：只有最后一条规则可以匹配一切，否则其后的规则永远不会生效',
  'must be without a port and a scheme': '不能带端口和协议',
  'may have a "*" only as its whole first label, "*.example.com"': '“*”只能作为完整的第一个标签，例如“*.example.com”',
  'is no regular expression of RE2: {reason}': '不是 RE2 正则表达式：{reason}',
  'is for tunnels whose rules are in a file beside cloudflared': '只用于规则写在 cloudflared 本地文件中的隧道',
  'must have a status from 100 to 999': '状态码必须为 100 到 999',
  'must be unix:/path': '必须是 unix:/path',
  'must be a scheme and a host, such as http://localhost:8080, or http_status:404, unix:/path, bastion':
    '必须是协议加主机，例如 http://localhost:8080，或 http_status:404、unix:/path、bastion',
  'has a port above 65535': '端口大于 65535',
  'must be without a path: cloudflared hands on that of the request': '不能带路径：cloudflared 会转交请求的路径',
  'has more behind the host than a port': '主机之后除端口外还有其他内容',
  'must be a whole number of seconds, 0 to {max}: cloudflared reads no other':
    '必须是 0 到 {max} 的整数秒数：cloudflared 不接受其他值',
  'must be a whole number from 0 to 65535': '必须是 0 到 65535 的整数',
  'must be true or false': '必须是 true 或 false',
  'must be text of at most 1024 characters': '必须是最多 1024 个字符的文本',
  'must be "" or "socks"': '必须是 "" 或 "socks"',
  'must be {required, teamName, audTag: []}': '必须是 {required, teamName, audTag: []}',
  'must be a list': '必须是列表',
} as const;
