class CredentialFieldView {
  key!: string;
  /** what the vendor calls it */
  label!: string;
  /** answers show it as `***` */
  secret!: boolean;
  /** the alternative cannot do without it */
  required!: boolean;
  /** a text of several lines is pasted: a key in PEM form, a file of JSON */
  multiline?: boolean;
  /** what a value looks like: for the placeholder of a form */
  example?: string;
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

class AlternativeView {
  /** what tells it from the others, in the labels of its fields */
  label!: string;
  /** keys of the fields that have to be filled in */
  required!: string[];
  /** keys of the fields that may be left empty */
  optional!: string[];
}

export class ProviderView {
  kind!: string;
  label!: string;
  /** where the vendor documents its API and keys */
  docs!: string;
  /** our page about the kind, with the keys and what they need: a path in the repository of the service */
  guide!: string;
  /** alternatives: the required fields of one list must be filled in */
  credentials!: CredentialFieldView[][];
  /**
   * the same alternatives by keys, in the order of `credentials`: the first whose required fields are there counts, or
   * a later one that has these and more
   */
  alternatives!: AlternativeView[];
  capabilities!: CapabilitiesView;
}
