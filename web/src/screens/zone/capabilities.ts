import type { components } from '~/api/schema';

/** What the provider of a domain can do. */
export type Capabilities = components['schemas']['CapabilitiesView'];
