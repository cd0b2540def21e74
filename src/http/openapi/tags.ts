/** The descriptions of the groups of routes, in the order of the page. */
export const TAGS: Record<string, string> = {
  Initialisation: 'The first start: choosing a database, and making the first super administrator.',
  Authentication: 'Signing in and out, passwords, second factors, passkeys and sessions.',
  Security: 'The own profile, and sign-ins at other providers that are bound to it.',
  Domains: 'Zones that are managed here, as far as the caller may read them.',
  Records: 'Records of a domain. Every change reaches the provider before it is answered.',
  Failover: 'Record sets that follow what answers: rules, checks, switches.',
  Accounts: 'Accounts at DNS providers, their credentials, and reading their zones.',
  Tunnels: 'Tunnels that providers run to services without a public address, their rules and CNAMEs.',
  'API tokens': 'Credentials for programs, limited to domains, scopes, networks and rules.',
  Teams: 'Groups of users, and what they may do with domains.',
  Users: 'People, their roles, and what somebody would be allowed to do.',
  Settings: 'Documents of the installation: general, security, mail server, sign-in providers and channels.',
  Audit: 'Who did what and when, in a chain that shows tampering.',
  System: 'Status, backups, jobs, logins and locks, and what became of notices, for those who run the service.',
  Site: 'What a page needs before and after the sign-in, and a stream of what happens.',
  Health: 'Whether the process lives, and whether it can work. Not below `/api`.',
};
