class CredentialFieldView {
  key!: string;
  label!: string;
  secret!: boolean;
  required!: boolean;
  kind!: 'text' | 'number' | 'url' | 'list';
  /** says where the secrets are sent: an account's secrets are sent again when it changes */
  address?: boolean;
  help?: string;
  default?: string;
  values?: string[];
}

export class CapabilitiesView {
  /** record types that can be written */
  types!: string[];
  /** `record`, or `rrset`: the TTL belongs to all values of a name and type */
  granularity!: 'record' | 'rrset';
  /** records can be disabled at the provider itself */
  toggle!: boolean;
  proxy!: boolean;
  lines!: string[];
  weight!: boolean;
  /** remarks are kept at the provider; elsewhere here */
  remark!: boolean;
  /** a CNAME may stand at the apex: the provider flattens it */
  apex_cname!: boolean;
  min_ttl!: number;
  max_ttl!: number;
  /** a TTL that means automatic, and that proxied records always have */
  automatic_ttl!: number | null;
  create_zone!: boolean;
  /** the provider carries out a list that is `atomic` whole or not at all; elsewhere such a list ends with a failure */
  atomic!: boolean;
  /** changes in one write to the provider at most: no longer list can be carried out there whole or not at all */
  chunk!: number;
  /** its accounts can hold tunnels: `POST /api/tunnels` */
  tunnels!: boolean;
}

export class ProviderView {
  kind!: string;
  label!: string;
  docs!: string;
  /** alternatives: the required fields of one list must be filled in */
  credentials!: CredentialFieldView[][];
  capabilities!: CapabilitiesView;
}
