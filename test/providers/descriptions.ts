/** How the exchanges with a stand-in are held against a description of the API. */
export interface Description {
  /** in the folder `provider-schemas`, without `.json` */
  file: string;
  /** the part of the stand-in's paths that is not in the description's; left out: that of the declared address */
  base?: string;
  /** why a PATCH may leave out what the description requires, where it describes the whole for it */
  parts?: string;
  /** paths of the stand-in that the description does not have, with the reason */
  beyond?: Readonly<Record<string, string>>;
  /** where the description is wrong or behind: what of a complaint is not counted, with the reason */
  wrong?: readonly { where: RegExp; reason: string }[];
}

/**
 * Which description is of which kind, and all exceptions from them. An exception that nothing needs fails the suite of
 * its kind.
 */
export const DESCRIPTIONS: Readonly<Record<string, Description>> = {
  aliesa: {
    file: 'alibaba-esa',
    wrong: [
      { where: /Data\.\w+ is missing/, reason: 'each field is required of the types that have it (its own words)' },
      { where: /SourceType is missing/, reason: 'left out it is "Domain" (its own words), and of CNAME only' },
    ],
  },
  aliyun: {
    file: 'alibaba-alidns',
    wrong: [{ where: /request\.Priority is missing/, reason: 'by its own words it is required of MX alone' }],
  },
  baidu: {
    file: 'baidu-dns',
    wrong: [
      { where: /nextMarker is missing/, reason: 'absent where nothing follows (documented for all of Baidu Cloud)' },
    ],
  },
  cloudflare: {
    file: 'cloudflare',
    parts: 'the description repeats the whole record; Cloudflare keeps what is left out',
    beyond: { '/dns_records/batch': 'younger than the description; checked in the edges of the kind' },
    wrong: [
      {
        where: /: 4\d\d: \/(success|result)? must/,
        reason:
          'that of refusals takes in that of successes, whose "success" is true; the recorded ones look like ours',
      },
      { where: /result_info\/total_pages is not described/, reason: 'recorded 2025' },
      { where: /zones: 200: \/result\/\d+\/(status|type|paused) is not described/, reason: 'recorded 2025' },
      { where: /^DELETE .*\/(success|errors|messages) is not described/, reason: 'recorded 2025' },
    ],
  },
  digitalocean: { file: 'digitalocean' },
  edgeone: { file: 'tencent-edgeone' },
  googlecloud: {
    file: 'google-cloud-dns',
    beyond: { '/token': 'the server of tokens is another one (RFC 6749, RFC 7523)' },
  },
  hetzner: { file: 'hetzner-cloud' },
  huaweicloud: {
    file: 'huawei-dns',
    beyond: { '/v2.1/system-lines': 'cut out of the model; it is in the documentation (ListSystemLines)' },
    wrong: [{ where: /HttpStatusCode is missing/, reason: 'the client itself puts it into its answers' }],
  },
  jdcloud: { file: 'jdcloud-domainservice' },
  linode: {
    file: 'linode',
    wrong: [{ where: /name must NOT have fewer than 1/, reason: 'by its own words the zone itself is an empty name' }],
  },
  powerdns: {
    file: 'powerdns',
    wrong: [
      {
        where: /rrsets\/\d+ must have required property '(ttl|records)'/,
        reason: 'a set that is deleted has neither (seen on 4.7)',
      },
      { where: /autoprimaries_url is not described/, reason: 'the server itself answers so (seen on 4.7)' },
    ],
  },
  route53: {
    file: 'route53',
    wrong: [{ where: /200\.Marker is missing/, reason: 'answered where one was asked for (its own words)' }],
  },
  tencentcloud: { file: 'tencent-dnspod' },
  volcengine: {
    file: 'volcengine-dns',
    wrong: [
      {
        where: /[\d\]]\.Remark is not described/,
        reason: 'the same model writes it, and other clients read it (as of 2026)',
      },
    ],
  },
};
