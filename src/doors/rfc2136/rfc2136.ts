import { type DoorDescription, TOKEN } from '../kit/door.js';

const KEY = `# KEY_NAME and KEY_SECRET: of the answer of POST /api/tokens/:id/tsig-key; that token is ${TOKEN}'s`;

export const rfc2136: DoorDescription = {
  key: 'rfc2136',
  path: '',
  listener: { scheme: 'dns', port: ({ dns }) => dns.port, usual: 53 },
  auth: 'TSIG (RFC 8945) with the key of a token of scope rfc2136, made at POST /api/tokens/:id/tsig-key',
  tools: (url) => {
    const { hostname, port = '53' } = new URL(url.replace('dns:', 'http:'));
    const host = hostname.replace(/^\[|\]$/g, '');
    return [
      {
        name: 'nsupdate',
        snippet: `${KEY}
nsupdate -v -y "hmac-sha256:$KEY_NAME:$KEY_SECRET" <<END
server ${host} ${port}
zone example.com
update delete www.example.com A
update add www.example.com 300 A 192.0.2.7
send
END`,
      },
      {
        name: 'certbot',
        snippet: `${KEY}
umask 077
cat >rfc2136.ini <<INI
# an address: this client looks no names up
dns_rfc2136_server = $(getent ahostsv4 ${host} | awk '{print $1; exit}')
dns_rfc2136_port = ${port}
dns_rfc2136_name = $KEY_NAME
dns_rfc2136_secret = $KEY_SECRET
dns_rfc2136_algorithm = HMAC-SHA256
INI
certbot certonly --dns-rfc2136 --dns-rfc2136-credentials rfc2136.ini --dns-rfc2136-propagation-seconds 30 \\
  -d example.com`,
      },
      {
        name: 'lego',
        snippet: `${KEY}
export RFC2136_NAMESERVER=${hostname}:${port}
export RFC2136_TSIG_ALGORITHM=hmac-sha256.
export RFC2136_TSIG_KEY="$KEY_NAME"
export RFC2136_TSIG_SECRET="$KEY_SECRET"
export RFC2136_DNS_TIMEOUT=60s
lego --email you@example.com --dns rfc2136 --domains example.com run`,
      },
      {
        name: 'cert-manager',
        snippet: `# the secret: kubectl create secret generic zoneward-tsig --from-literal=secret=$KEY_SECRET
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: letsencrypt}
spec:
  acme:
    server: https://acme-v02.api.letsencrypt.org/directory
    privateKeySecretRef: {name: letsencrypt-account}
    solvers:
      - dns01:
          rfc2136:
            nameserver: ${hostname}:${port}
            tsigKeyName: $KEY_NAME
            tsigAlgorithm: HMACSHA256
            tsigSecretSecretRef: {name: zoneward-tsig, key: secret}`,
      },
      {
        name: 'ExternalDNS',
        snippet: `${KEY}
external-dns --source=ingress --source=service --policy=sync --registry=txt --txt-owner-id=my-cluster \\
  --provider=rfc2136 --rfc2136-host=${host} --rfc2136-port=${port} --rfc2136-zone=example.com \\
  --rfc2136-tsig-keyname="$KEY_NAME" --rfc2136-tsig-secret="$KEY_SECRET" \\
  --rfc2136-tsig-secret-alg=hmac-sha256 --rfc2136-tsig-axfr`,
      },
      {
        name: 'Kea',
        snippet: `{ "DhcpDdns": {
    "ip-address": "127.0.0.1", "port": 53001, "dns-server-timeout": 5000,
    "tsig-keys": [
      { "name": "$KEY_NAME", "algorithm": "HMAC-SHA256", "secret": "$KEY_SECRET" }
    ],
    "forward-ddns": { "ddns-domains": [
      { "name": "example.com.", "key-name": "$KEY_NAME", "dns-servers": [ { "ip-address": "${host}", "port": ${port} } ] }
    ] },
    "reverse-ddns": { "ddns-domains": [] } } }`,
      },
      {
        name: 'dig',
        snippet: `${KEY}
dig @${host} -p ${port} -y "hmac-sha256:$KEY_NAME:$KEY_SECRET" example.com AXFR +comments`,
      },
    ];
  },
};
